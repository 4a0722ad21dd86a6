import { originHref } from '@longhaul/shared';
import { remember } from '../remember.ts';
import type { Tunnel } from './plan-tunnel.ts';

export interface EntryAliveDependencies {
  readonly greetDepot: (location: string, signal: AbortSignal) => Promise<boolean>;
  readonly deadline: (ms: number) => AbortSignal;
  readonly now: () => number;
}

/** What an entry depot has to show that it is there: it is near. */
const GREETING_MS = 1_500;
/** So long the entry depot counts as alive after it has shown that it is. */
const ALIVE_MS = 5_000;
/** Tunnels whose entry depots are remembered. */
const MOST_TUNNELS = 64;

/** Which entry depots have shown within the last seconds that they are there, by the job of their tunnel. */
export class EntryAlive {
  readonly #deps: EntryAliveDependencies;
  readonly #greeting = new Map<string, Promise<boolean>>();
  readonly #seenAtMs = new Map<string, number>();

  constructor(deps: EntryAliveDependencies) {
    this.#deps = deps;
  }

  /** Whether the entry depot is there, as it has shown within the last seconds, or shows now. */
  async isAlive(tunnel: Tunnel): Promise<boolean> {
    const { greetDepot, deadline, now } = this.#deps;
    const { jobId, proxy } = tunnel;
    if (now() - (this.#seenAtMs.get(jobId) ?? Number.NEGATIVE_INFINITY) < ALIVE_MS) return true;
    const location = originHref({ scheme: 'https', ...proxy, path: '/', query: null });
    const running = this.#greeting.get(jobId);
    const greeting =
      running ?? greetDepot(location, deadline(GREETING_MS)).finally(() => this.#greeting.delete(jobId));
    this.#greeting.set(jobId, greeting);
    const isThere = await greeting;
    if (isThere) this.note(tunnel);
    return isThere;
  }

  /** The entry depot has shown that it is there. */
  note({ jobId }: Tunnel): void {
    remember(this.#seenAtMs, jobId, this.#deps.now(), MOST_TUNNELS);
  }

  /** Something says that it may be gone: the next question asks it for a word. */
  doubt({ jobId }: Tunnel): void {
    this.#seenAtMs.delete(jobId);
  }
}
