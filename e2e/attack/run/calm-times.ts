import type { Bystander, Witness } from '../bystander/bystander.ts';

/** Times between strikes that count for the next one: machines drift. */
const KEPT_TIMES = 6;

/** The times in which nobody attacks, and what bystanders' downloads took then. */
export class CalmTimes {
  readonly #kept: { readonly fromMs: number; readonly toMs: number }[] = [];

  /** Lets a bystander download so many files in peace. */
  async rest(bystander: Bystander, downloads: number): Promise<void> {
    const fromMs = performance.now();
    // The one that runs now began before.
    for (let done = 0; done < downloads + 1; done += 1) await bystander.next();
    this.#kept.push({ fromMs, toMs: performance.now() });
    if (this.#kept.length > KEPT_TIMES) this.#kept.shift();
  }

  /** The downloads that lie in these times as a whole. */
  downloadsOf({ downloads }: Bystander): readonly Witness[] {
    return downloads.filter(({ beganMs, endedMs }) =>
      this.#kept.some(({ fromMs, toMs }) => beganMs >= fromMs && endedMs <= toMs),
    );
  }
}
