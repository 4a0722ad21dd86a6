import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startTestOverlay } from './testing/overlay.ts';

test('a depot that has no descriptor left says so, as long as it has none', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const overlay = await startTestOverlay(['d1'], (_, response) => response.end());
  onTestFinished(() => overlay.close());
  const opening = vi.spyOn(fs, 'openSync').mockImplementation(() => {
    throw Object.assign(new Error('open'), { code: 'EMFILE' });
  });
  const restore = () => {
    opening.mockRestore();
    syncBuiltinESMExports();
  };
  onTestFinished(restore);
  syncBuiltinESMExports();
  const said = () => overlay.depot('d1').events.filter(({ type }) => type === 'descriptors-out');
  await vi.advanceTimersByTimeAsync(10_000);
  const event = { type: 'descriptors-out', code: 'descriptors-out' };
  expect(said()).toEqual([event, event]);
  restore();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said()).toHaveLength(2);
});
