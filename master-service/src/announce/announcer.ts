/** A master that comes back is well so many times in a row, a second, before it gets clients again. */
const WELL_TIMES = 10;
/** A connection may be closed between two questions; a master that has ended refuses the next one, too. */
const REFUSED_TIMES = 2;
/** Routes of neighbours have gone by then, and nobody comes any more to an address whose master does not listen. */
const LEAVE_MS = 2_000;

/** `silent`: no answer within the time that it is waited for. `refused`: no connection, or one that broke. */
export type Answer = 'well' | 'unwell' | 'refused' | 'silent';

/**
 * What is to be done with the address: `announce` it; `withdraw` the announcement, while what still comes is
 * served; or have it `leave` the machine as well, so that others on it reach the master of another site.
 */
export type Word = 'announce' | 'withdraw' | 'leave';

/** Decides by the answers of one master whether its address is announced. */
export class Announcer {
  #word: Word | undefined;
  #well = 0;
  #refused = 0;
  /** When the master has answered last; before the first answer, when it was first asked. */
  #heardAtMs: number | undefined;

  /**
   * Takes what the master has answered; what is to be done by all that is known, `undefined` where that is
   * too little.
   */
  take(answer: Answer, nowMs: number): Word | undefined {
    const isHeard = answer === 'well' || answer === 'unwell';
    this.#well = answer === 'well' ? this.#well + 1 : 0;
    this.#refused = answer === 'refused' ? this.#refused + 1 : 0;
    this.#heardAtMs = isHeard ? nowMs : (this.#heardAtMs ?? nowMs);
    if (this.#well >= WELL_TIMES) this.#word = 'announce';
    else if (!isHeard && nowMs - this.#heardAtMs >= LEAVE_MS) this.#word = 'leave';
    else if (
      this.#word !== 'leave' &&
      (answer === 'unwell' || answer === 'silent' || this.#refused >= REFUSED_TIMES)
    )
      this.#word = 'withdraw';
    return this.#word;
  }
}
