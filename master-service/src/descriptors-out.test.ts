import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startMaster } from './testing/start-master.ts';

test('a master that has no descriptor left says so, until it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { master, events } = await startMaster({});
  const opening = vi.spyOn(fs, 'openSync').mockImplementation(() => {
    throw Object.assign(new Error('open'), { code: 'EMFILE' });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    opening.mockRestore();
    syncBuiltinESMExports();
  });
  const said = () => events.filter(({ type }) => type === 'descriptors-out');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(said()).toEqual([{ type: 'descriptors-out', code: 'descriptors-out' }]);
  await master.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said()).toHaveLength(1);
});
