interface TryOptions<Choice, Result> {
  /** Tries one; calls `onStands` when what takes long from now on is not the way's fault. Must obey its signal. */
  readonly attempt: (choice: Choice, signal: AbortSignal, onStands: () => void) => Promise<Result>;
  /** How long one may take to stand before the next begins beside it. */
  readonly patienceMs: number;
  /** How long one that stands may take before the next begins beside it; for ever where it is left out. */
  readonly standingPatienceMs?: number;
  readonly signal: AbortSignal;
  /** Told of every failure that does not end the search; says whether it ends it. */
  readonly isFinal: (failure: unknown, choice: Choice) => boolean;
  /** Gets what came too late. */
  readonly discard: (result: Result) => void;
}

/** Told to those that are tried no longer. One for all: a reason of its own would have a stack, which nobody reads. */
const OVER = new Error('another try has won, or all have ended');

const NO_CHOICE = new Error('there was no choice');

/**
 * Tries one choice after the other until one succeeds: the next begins when the one before has failed, or beside it when
 * that does not stand in time (as RFC 8305 does with addresses). The first result wins, the other tries are aborted.
 * Rejects with the final failure, or with the last one when no choice is left.
 */
export function tryInTurn<Choice, Result>(
  choices: AsyncIterable<Choice> | Iterable<Choice>,
  { attempt, patienceMs, standingPatienceMs, signal, isFinal, discard }: TryOptions<Choice, Result>,
): Promise<Result> {
  const iterator =
    Symbol.asyncIterator in choices ? choices[Symbol.asyncIterator]() : choices[Symbol.iterator]();
  const race = new AbortController();
  // Not `AbortSignal.any`, whose weak references in a signal that lives long cost more than all else here.
  const onAbort = () => race.abort(signal.reason);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let isAsking = false;
    let isExhausted = false;
    let running = 0;
    let lastFailure: unknown = NO_CHOICE;
    let giveUpWaiting = () => {};

    const settle = (finish: () => void) => {
      if (isSettled) return;
      isSettled = true;
      giveUpWaiting();
      finish();
      signal.removeEventListener('abort', onAbort);
      race.abort(OVER);
      // A generator must not wait for somebody who asks no more.
      Promise.resolve(iterator.return?.()).catch(() => undefined);
    };
    const giveUpIfNothingRuns = () => {
      if (isExhausted && running === 0) settle(() => reject(lastFailure));
    };
    const startAnother = () => {
      if (isSettled || isAsking || isExhausted) return;
      isAsking = true;
      Promise.resolve(iterator.next()).then(
        ({ done, value }) => {
          isAsking = false;
          if (done === true) {
            isExhausted = true;
            giveUpIfNothingRuns();
          } else if (!isSettled) run(value);
        },
        (failure: unknown) => settle(() => reject(failure)),
      );
    };
    const run = (choice: Choice) => {
      running += 1;
      giveUpWaiting();
      let own = afterWaiting(patienceMs, startAnother);
      giveUpWaiting = own;
      const onStands = () => {
        own();
        if (isSettled || standingPatienceMs === undefined) return;
        own = afterWaiting(standingPatienceMs, startAnother);
        giveUpWaiting = own;
      };
      attempt(choice, race.signal, onStands).then(
        (result) => {
          if (isSettled) discard(result);
          else settle(() => resolve(result));
        },
        (failure: unknown) => {
          own();
          running -= 1;
          if (isSettled) return;
          lastFailure = failure;
          if (signal.aborted || isFinal(failure, choice)) settle(() => reject(failure));
          else if (isExhausted) giveUpIfNothingRuns();
          else startAnother();
        },
      );
    };
    startAnother();
  });
}

/**
 * Acts when this time is over and what came in meanwhile has been read: timers come before sockets where the event loop was busy for longer. Gives what calls it off.
 */
function afterWaiting(timeMs: number, act: () => void): () => void {
  let afterReading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    afterReading = setImmediate(act);
  }, timeMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(afterReading);
  };
}
