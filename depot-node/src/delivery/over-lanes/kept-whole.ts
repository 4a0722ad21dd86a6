import type { LonghaulError } from '@longhaul/shared';
import { OriginBusy } from '../../origin/joined-part.ts';
import type { FetchedAnswer } from '../../routes/fetcher.ts';

/**
 * Blocks that have come before an origin is taken for one that gives all of them: links that are good for
 * several answers are so for a few.
 */
const TELLING_BLOCKS = 32;
/**
 * Without a refusal for so long none is waited for: an answer that nobody reads holds a connection of the
 * origin, and room on the way.
 */
const LONGEST_KEPT_MS = 10_000;

/**
 * The answer with all of a file, unread while lanes begin to fetch its blocks: there are links that are good
 * for a few answers, and files that another version takes the place of. It goes on where the origin refuses
 * blocks; it is left when enough of them have come, or none was refused for a while.
 */
export class KeptWhole {
  #answer: FetchedAnswer | undefined;
  #blocks = 0;
  #isRefused = false;
  readonly #timer: NodeJS.Timeout;

  constructor(answer: FetchedAnswer) {
    this.#answer = answer;
    this.#timer = setTimeout(() => {
      if (!this.#isRefused) this.leave();
    }, LONGEST_KEPT_MS);
    this.#timer.unref();
  }

  /** Whether it holds a connection. */
  get isThere(): boolean {
    return this.#answer !== undefined;
  }

  noteBlock(): void {
    this.#blocks += 1;
    if (this.#blocks >= TELLING_BLOCKS) this.leave();
  }

  /**
   * Notes why a block did not come, over a connection that had brought one before or over another. Gives
   * whether it has left its own connection for that: an origin that counts them may take a lane's now.
   */
  noteFailure(failure: LonghaulError, isProved: boolean): boolean {
    this.#isRefused ||= failure.blame === 'origin';
    const isInTheWay = this.isThere && failure instanceof OriginBusy && !isProved;
    if (isInTheWay) this.leave();
    return isInTheWay;
  }

  /** Gives it away, where it is still there. */
  take(): FetchedAnswer | undefined {
    const answer = this.#answer;
    this.#answer = undefined;
    clearTimeout(this.#timer);
    return answer;
  }

  /** Breaks it off. */
  leave(): void {
    this.take()?.connection.reset();
  }
}
