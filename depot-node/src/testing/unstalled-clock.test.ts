import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { standStill } from './stand-still.ts';
import { unstalledMs } from './unstalled-clock.ts';

test('goes on as time does, and does not count that this thread stood still', async () => {
  const begunMs = unstalledMs();
  standStill(700);
  const atOnceMs = unstalledMs() - begunMs;
  await setImmediate();
  const behindTimersMs = unstalledMs() - begunMs;
  expect(atOnceMs).toBeLessThan(100);
  expect(behindTimersMs).toBeGreaterThanOrEqual(atOnceMs);
  expect(behindTimersMs).toBeLessThan(200);
  await expect.poll(() => unstalledMs() - begunMs).toBeGreaterThan(300);
});
