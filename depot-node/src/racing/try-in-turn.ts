import { afterWaiting } from './after-waiting.ts';
import { LinkedAbort } from './linked-abort.ts';

interface TryOptions<Choice, Result> {
  /** Tries one; calls `onStands` when what takes long from now on is not the way's fault. Must obey its signal. */
  readonly attempt: (choice: Choice, signal: AbortSignal, onStands: () => void) => Promise<Result>;
  /** How long one may take to stand before the next begins beside it. */
  readonly patienceMs: number;
  /** How long one that stands may take before the next begins beside it; for ever where it is left out. */
  readonly standingPatienceMs?: number;
  readonly signal: AbortSignal;
  /**
   * Whether a failure says nothing of its choice, which is tried anew at once and has its own time to stand;
   * without it: none does.
   */
  readonly isOfTry?: (failure: unknown, choice: Choice) => boolean;
  /** Told of every other failure that does not end the search; says whether it ends it. */
  readonly isFinal: (failure: unknown, choice: Choice) => boolean;
  /** Told of each that did not stand in time, and still does not when one that began beside it succeeds. */
  readonly onOvertaken?: (choice: Choice) => void;
  /** Whether a result is taken only where no other try that runs brings a better one; without it: of none. */
  readonly isPoor?: (result: Result) => boolean;
  /**
   * Whether a poor result says nothing of other choices, which are tried then as behind a failure; without
   * it: none does.
   */
  readonly isOfChoice?: (result: Result, choice: Choice) => boolean;
  /** Gets what came too late, or was not the best. */
  readonly discard: (result: Result) => void;
}

/** Told to those that are tried no longer. One for all: a reason of its own would have a stack, which nobody reads. */
const OVER = new Error('another try has won, or all have ended');

const NO_CHOICE = new Error('there was no choice');

/**
 * Tries one choice after the other until one succeeds: the next begins when the one before has failed, or
 * beside it when that does not stand in time (as RFC 8305 does with addresses). The first result wins, the
 * other tries are aborted. A poor one begins no further try, but where it is of its choice alone, and waits
 * for those that run: as long as they take where they stand, else once more for the time to stand. Of poor
 * ones alone the first wins. Rejects with the final failure, or with the last one when no choice is left.
 */
export function tryInTurn<Choice, Result>(
  choices: AsyncIterable<Choice> | Iterable<Choice>,
  {
    attempt,
    patienceMs,
    standingPatienceMs,
    signal,
    isOfTry,
    isFinal,
    onOvertaken,
    isPoor,
    isOfChoice,
    discard,
  }: TryOptions<Choice, Result>,
): Promise<Result> {
  const iterator =
    Symbol.asyncIterator in choices ? choices[Symbol.asyncIterator]() : choices[Symbol.iterator]();
  const race = new LinkedAbort(signal);
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let isAsking = false;
    let isExhausted = false;
    let running = 0;
    /** How many of those that run stand. */
    let standing = 0;
    /** Those that run and have not stood in time. */
    const late = new Set<Choice>();
    const poor: Result[] = [];
    /** Whether one of them is such that no further try begins. */
    let isEnough = false;
    /** Those that do not stand have had their time since there is a poor result. */
    let hasHoped = false;
    let lastFailure: unknown = NO_CHOICE;
    let giveUpWaiting = () => {};
    let giveUpHoping = () => {};

    const settle = (finish: () => void) => {
      if (isSettled) return;
      isSettled = true;
      giveUpWaiting();
      giveUpHoping();
      finish();
      for (const result of poor) discard(result);
      race.leave();
      race.abort(OVER);
      // A generator must not wait for somebody who asks no more.
      Promise.resolve(iterator.return?.()).catch(() => undefined);
    };
    const succeed = (result: Result) =>
      settle(() => {
        for (const choice of late) onOvertaken?.(choice);
        resolve(result);
      });
    const takePoor = () => {
      const isHopeful = (hasHoped ? standing : running) > 0;
      const [first] = isHopeful ? [] : poor.splice(0, 1);
      if (first !== undefined) succeed(first);
    };
    /** Begins no further try: those that run may still bring a better result. */
    const hopeForOthers = () => {
      isEnough = true;
      giveUpWaiting();
      giveUpHoping();
      giveUpHoping = afterWaiting(patienceMs, () => {
        hasHoped = true;
        takePoor();
      });
      takePoor();
    };
    const endSearch = () => {
      isExhausted = true;
      if (poor.length > 0) hopeForOthers();
      else if (running === 0) settle(() => reject(lastFailure));
    };
    const keepPoor = (result: Result, choice: Choice) => {
      poor.push(result);
      if (!isEnough && isOfChoice?.(result, choice) === true) {
        goOn();
        return;
      }
      hopeForOthers();
    };
    const startAnother = () => {
      if (isSettled || isAsking || isExhausted || isEnough) return;
      isAsking = true;
      Promise.resolve(iterator.next()).then(
        ({ done, value }) => {
          isAsking = false;
          if (done === true) endSearch();
          else if (!isSettled && !isEnough) run(value);
        },
        (failure: unknown) => settle(() => reject(failure)),
      );
    };
    const goOn = () => {
      if (isExhausted) endSearch();
      else startAnother();
    };
    const run = (choice: Choice) => {
      running += 1;
      giveUpWaiting();
      let own = afterWaiting(patienceMs, () => {
        late.add(choice);
        startAnother();
      });
      giveUpWaiting = own;
      let stands = 0;
      const onStands = () => {
        own();
        late.delete(choice);
        standing += 1 - stands;
        stands = 1;
        if (isSettled || standingPatienceMs === undefined) return;
        own = afterWaiting(standingPatienceMs, startAnother);
        giveUpWaiting = own;
      };
      attempt(choice, race.signal, onStands).then(
        (result) => {
          late.delete(choice);
          running -= 1;
          standing -= stands;
          if (isSettled) discard(result);
          else if (isPoor?.(result) === true) keepPoor(result, choice);
          else succeed(result);
        },
        (failure: unknown) => {
          own();
          late.delete(choice);
          running -= 1;
          standing -= stands;
          if (isSettled) return;
          lastFailure = failure;
          const isAgain = !signal.aborted && isOfTry?.(failure, choice) === true;
          // A poor result is better than any failure.
          const isEnd = signal.aborted || (!isAgain && isFinal(failure, choice) && poor.length === 0);
          if (isEnd) settle(() => reject(failure));
          else if (isEnough) takePoor();
          else if (isAgain) run(choice);
          else goOn();
        },
      );
    };
    startAnother();
  });
}
