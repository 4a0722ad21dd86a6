import type { StorageArea } from '../browser/browser-api.ts';
import { Turns } from '../turns.ts';
import type { Tunnel } from './plan-tunnel.ts';

/** What the browser has given an entry depot. */
interface Given {
  readonly server: string;
  /** The job of the ticket that it gives now, where the depot has taken that. */
  readonly jobId?: string;
}

type AllGiven = Readonly<Record<string, Given | undefined>>;

const KEY = 'ticketsGiven';

/** Chromium keeps one password for each proxy until it ends, and gives it again whatever is asked for there. */
export class GivenTickets {
  readonly #area: StorageArea;
  readonly #turns = new Turns();

  constructor(area: StorageArea) {
    this.#area = area;
  }

  /** Whether the browser has given this entry depot no ticket for another server; from now on it counts as given. */
  mayServe({ proxy }: Tunnel, server: string): Promise<boolean> {
    // One after the other: two that read the same list would both have the depot.
    return this.#turns.take(async () => {
      const [depot, given] = [depotOf(proxy), await this.#all()];
      const before = given[depot];
      if (before) return before.server === server;
      await this.#area.set({ [KEY]: { ...given, [depot]: { server } } });
      return true;
    });
  }

  /** The entry depot has taken this ticket, which the browser gives it from now on. */
  note({ proxy, jobId }: Tunnel, server: string): Promise<void> {
    return this.#turns.take(async () => {
      await this.#area.set({ [KEY]: { ...(await this.#all()), [depotOf(proxy)]: { server, jobId } } });
    });
  }

  /**
   * Whether the browser gives this ticket as it is: a master gives the same one again to who asks twice
   * within a minute.
   */
  async gives({ proxy, jobId }: Tunnel): Promise<boolean> {
    return (await this.#all())[depotOf(proxy)]?.jobId === jobId;
  }

  async #all(): Promise<AllGiven> {
    return ((await this.#area.get(KEY))[KEY] ?? {}) as AllGiven;
  }
}

function depotOf({ host, port }: Tunnel['proxy']): string {
  return `${host}:${port}`;
}
