import type { RunningLeg } from '@longhaul/shared';
import { chainOfLegs } from './chain-of-legs.ts';
import type { PictureLeg } from './chain-picture.ts';

/** Depots look at their connections once a second. */
const ASK_EVERY_MS = 1_000;
/** What is older is not shown as what is now. */
const FRESH_MS = 3_000;

type AskLegs = (key: string) => Promise<readonly RunningLeg[] | undefined>;

interface Known {
  readonly askedAtMs: number;
  readonly chain?: readonly PictureLeg[];
  readonly toldAtMs: number;
}

/** What the chains of running downloads do now, asked for while they are looked at. */
export class LegsNow {
  readonly #ask: AskLegs;
  readonly #known = new Map<string, Known>();

  constructor(ask: AskLegs) {
    this.#ask = ask;
  }

  /** The chain as it was told last, if that is fresh; asks anew where that is due. */
  of(key: string, nowMs: number): readonly PictureLeg[] | undefined {
    const known = this.#known.get(key);
    if (!known || nowMs - known.askedAtMs >= ASK_EVERY_MS) void this.#askFor(key, nowMs, known);
    return known?.chain && nowMs - known.toldAtMs <= FRESH_MS ? known.chain : undefined;
  }

  async #askFor(key: string, nowMs: number, before: Known | undefined): Promise<void> {
    this.#known.set(key, { toldAtMs: nowMs, ...before, askedAtMs: nowMs });
    const legs = await this.#ask(key).catch(() => undefined);
    const chain = legs && chainOfLegs(legs);
    if (chain) this.#known.set(key, { askedAtMs: nowMs, chain, toldAtMs: nowMs });
  }
}
