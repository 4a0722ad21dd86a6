import { setTimeout as delay } from 'node:timers/promises';
import { lookAt, peakOf, SERVICES, type Service, type ServiceLook } from '../watch/service-look.ts';
import type { World } from '../world/start-world.ts';
import { DEPOTS } from '../world/topology.ts';

/** Short beside a strike, long beside a look. */
const LOOK_MS = 700;

export type Looks = Readonly<Record<Service, ServiceLook>>;

/** Looks at everybody again and again while a strike lasts. */
export class StrikeWatch {
  readonly #world: World;
  readonly #peaks: Record<Service, ServiceLook>;
  readonly #down: Record<string, number> = {};
  readonly #over = new AbortController();
  readonly #watching: Promise<unknown>;

  constructor(world: World, before: Looks) {
    this.#world = world;
    this.#peaks = { ...before };
    this.#watching = Promise.all([this.#again(() => this.#look()), this.#again(() => this.#askMaster())]);
  }

  /** Looks once more; gives the most of each, and who was down at how many looks. */
  async stop(): Promise<{ readonly peaks: Looks; readonly down: Readonly<Record<string, number>> }> {
    this.#over.abort();
    await this.#watching;
    return { peaks: this.#peaks, down: this.#down };
  }

  async #again(act: () => Promise<void>): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await act();
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    await act();
  }

  async #look(): Promise<void> {
    for (const service of SERVICES) {
      const look = await lookAt(this.#world, service);
      if (look) this.#peaks[service] = peakOf(this.#peaks[service], look);
    }
  }

  async #askMaster(): Promise<void> {
    for (const who of await whoIsDown(this.#world)) this.#down[who] = (this.#down[who] ?? 0) + 1;
  }
}

/** Depots that do not count for their master, as sentences; or that it does not say. */
export async function whoIsDown({ overlay, eyes }: World): Promise<readonly string[]> {
  const status = await eyes.read(`${overlay.master.url}/v1/status`).catch(() => undefined);
  if (status === undefined) return ['the master did not answer'];
  const { depots } = JSON.parse(status) as { depots: readonly { id: string; state: string }[] };
  return DEPOTS.flatMap((id) => {
    const state = depots.find((depot) => depot.id === id)?.state ?? 'gone';
    return state === 'up' ? [] : [`${id} was ${state} for its master`];
  });
}
