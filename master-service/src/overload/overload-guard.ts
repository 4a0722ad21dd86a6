import { performance } from 'node:perf_hooks';
import { clientPrefix } from '@longhaul/shared';
import { AskedPlans } from './asked-plans.ts';
import { SpareTime } from './spare-time.ts';

/**
 * Plans in one turn of the event loop that are no crowd: what holds it up is something else then, and without
 * plans it would be as late.
 */
const FEW_PLANS = 32;
/** A turn of so long, with more than a few who ask, is one in which many wait for each other. */
const LONG_MS = 15;
/** A turn that has planned for so long plans no more for the networks that ask most: who comes next waits as long. */
const CROWDED_MS = 40;
/**
 * A turn that has planned for so long plans for nobody any more. Answers stay within a quarter of a second
 * then, with thousands who ask.
 */
const FULL_MS = 100;

interface OverloadGuardInit {
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** How long the event loop had nothing to do since the start, in milliseconds; left out, as Node tells. */
  readonly idleMs?: () => number;
  /** Calls back when the event loop has done all that it had; left out, `setImmediate`. */
  readonly afterTurn?: (then: () => void) => void;
}

/**
 * Says when there is no time for plans: many are asked for in one turn of the event loop and it has been at
 * it for long, or it never rests. Then clients are answered without one, which costs next to nothing.
 * Networks that ask most meet that first.
 */
export class OverloadGuard {
  readonly #steadyMs: () => number;
  readonly #afterTurn: (then: () => void) => void;
  readonly #spareTime: SpareTime;
  readonly #networks = new AskedPlans();
  /** When this turn took up its first plan; `undefined` where it has none. */
  #sinceMs: number | undefined;
  #plans = 0;
  #asked = 0;

  constructor({
    steadyMs,
    idleMs = idleOfLoop,
    afterTurn = (then) => void setImmediate(then),
  }: OverloadGuardInit) {
    this.#steadyMs = steadyMs;
    this.#afterTurn = afterTurn;
    this.#spareTime = new SpareTime(idleMs);
  }

  /** Whether a plan for this client is worth its time now; counts it then. */
  takePlan(address: string): boolean {
    const nowMs = this.#steadyMs();
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs;
      this.#afterTurn(() => this.#endTurn());
    }
    this.#asked += 1;
    const network = clientPrefix(address);
    const busyMs = this.#plans < FEW_PLANS ? 0 : nowMs - this.#sinceMs;
    const asksMuch = this.#networks.asksMuch(network, nowMs);
    const isCrowded = busyMs >= FULL_MS || (busyMs >= CROWDED_MS && asksMuch);
    if (isCrowded || !this.#spareTime.leavesRoom(asksMuch, nowMs)) return false;
    this.#plans += 1;
    this.#networks.count(network, nowMs);
    return true;
  }

  #endTurn(): void {
    const tookMs = this.#steadyMs() - (this.#sinceMs ?? 0);
    if (this.#asked >= FEW_PLANS && tookMs >= LONG_MS) this.#spareTime.noteCrowd();
    this.#sinceMs = undefined;
    [this.#plans, this.#asked] = [0, 0];
  }
}

function idleOfLoop(): number {
  return performance.eventLoopUtilization().idle;
}
