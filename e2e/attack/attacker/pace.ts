import { setTimeout as delay } from 'node:timers/promises';

/** Work is spread no finer: timers of a busy machine are late by more. */
const TICK_MS = 10;

/** Does something so many times a second, without waiting for what comes of it, until the signal. */
export async function pace(perSecond: number, signal: AbortSignal, act: () => void): Promise<void> {
  const startedMs = performance.now();
  for (let done = 0; !signal.aborted; ) {
    const due = ((performance.now() - startedMs) / 1000) * perSecond;
    for (; done < due && !signal.aborted; done += 1) act();
    await delay(TICK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Does something again and again, so many at once, until the signal; each is waited for. */
export async function keepAtIt(
  atOnce: number,
  signal: AbortSignal,
  act: (turn: number) => Promise<void>,
): Promise<void> {
  let turn = 0;
  const worker = async () => {
    while (!signal.aborted) {
      turn += 1;
      await act(turn);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Does something so many times, so many at once, and ends early at the signal. */
export async function doTimes(
  times: number,
  atOnce: number,
  signal: AbortSignal,
  act: (at: number) => Promise<void>,
): Promise<void> {
  const done = new AbortController();
  await keepAtIt(atOnce, AbortSignal.any([signal, done.signal]), async (turn) => {
    if (turn >= times) done.abort();
    if (turn <= times) await act(turn - 1);
  });
}

/** Resolves at the signal: for attacks that lie in what is held. */
export function untilOver(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
