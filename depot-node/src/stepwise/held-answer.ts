import { asLonghaulError, type LonghaulError, type OriginUrl } from '@longhaul/shared';
import type { OriginAnswer } from '../entry/origin-exchange.ts';
import { abandon } from '../entry/origin-fetch.ts';

/** What came of a fetch that a depot began for its successor: an answer with its body unread, or why there is none. */
export type Held =
  | { readonly ok: true; readonly url: OriginUrl; readonly answered: OriginAnswer }
  /** `url` where it is known all the same: whoever knows it can fetch by cascade. */
  | { readonly ok: false; readonly url: OriginUrl | undefined; readonly error: LonghaulError };

/** The failure of a fetch, as what is held. */
export function heldFailure(thrown: unknown, url: OriginUrl | undefined): Held {
  return { ok: false, url, error: asLonghaulError(thrown, 'origin-unreachable') };
}

/** Gives up what is held, with its whole chain. */
export function letGo(held: Held): void {
  if (held.ok) abandon(held.answered.answer);
}
