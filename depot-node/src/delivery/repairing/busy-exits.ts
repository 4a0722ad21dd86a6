import { formatAuthority, type OriginPlace } from '@longhaul/shared';
import type { OriginBusy } from '../../origin/joined-part.ts';
import { exitOf, type Route } from '../../routes/route-book.ts';

/** How long an origin is to be left alone. */
export interface OriginRest {
  /** Until it may be asked over the first of the routes that it wants no question over now. */
  readonly restMs: number;
  /** What it said there. */
  readonly busy: OriginBusy;
  /** Whether that is so over all of them. */
  readonly isOfAll: boolean;
}

/**
 * Over which exits an origin has asked for patience, and until when. It counts questions by the address that
 * they come from, and that of an exit depot is shared by all whose ways end there: what it says to one says
 * nothing of the others.
 */
export class BusyExits {
  readonly #nowMs: () => number;
  readonly #said = new Map<string, { readonly untilMs: number; readonly busy: OriginBusy }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Notes that an origin takes no further question over the exit of a route, for as long as it says. */
  note(route: Route, place: OriginPlace, busy: OriginBusy): void {
    const untilMs = this.#nowMs() + (busy.retryAfterSeconds ?? 0) * 1000;
    this.#said.set(keyOf(route, place), { untilMs, busy });
  }

  /** Whether an origin is still to be left alone over the exit of a route. */
  isResting(route: Route, place: OriginPlace): boolean {
    return this.#restMs(route, place) > 0;
  }

  /**
   * How long an origin is to be left alone over those of these routes over which it is; `undefined` where it
   * is over none.
   */
  restOver(routes: readonly Route[], place: OriginPlace): OriginRest | undefined {
    const resting = routes.filter((route) => this.isResting(route, place));
    const [first] = resting.toSorted((one, other) => this.#restMs(one, place) - this.#restMs(other, place));
    const said = first && this.#said.get(keyOf(first, place));
    if (!said) return undefined;
    const restMs = this.#restMs(first, place);
    return { restMs, busy: said.busy, isOfAll: resting.length === routes.length };
  }

  #restMs(route: Route, place: OriginPlace): number {
    const said = this.#said.get(keyOf(route, place));
    return said === undefined ? 0 : Math.max(0, said.untilMs - this.#nowMs());
  }
}

function keyOf(route: Route, { host, port }: OriginPlace): string {
  return `${exitOf(route)} ${formatAuthority(host, port)}`;
}
