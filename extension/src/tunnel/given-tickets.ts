import type { StorageArea } from '../browser/browser-api.ts';
import type { Tunnel } from './plan-tunnel.ts';

/** For which server the browser has given an entry depot a ticket. */
const KEY = 'ticketsGiven';

/** Chromium keeps one password for each proxy until it ends, and gives it again whatever is asked for there. */
export class GivenTickets {
  readonly #area: StorageArea;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(area: StorageArea) {
    this.#area = area;
  }

  /** Whether the browser has given this entry depot no ticket for another server; from now on it counts as given. */
  mayServe({ proxy }: Tunnel, server: string): Promise<boolean> {
    // One after the other: two that read the same list would both have the depot.
    const asked = this.#turn.then(async () => {
      const depot = `${proxy.host}:${proxy.port}`;
      const given = ((await this.#area.get(KEY))[KEY] ?? {}) as Readonly<Record<string, string>>;
      if (given[depot] !== undefined) return given[depot] === server;
      await this.#area.set({ [KEY]: { ...given, [depot]: server } });
      return true;
    });
    this.#turn = asked.catch(() => undefined);
    return asked;
  }
}
