import { expect, test } from 'vitest';
import { type EmulatorLink, startEmulator } from './emulator.ts';
import type { DirectionSettings } from './link-settings.ts';

const SETTINGS: DirectionSettings = {
  delayMs: 1,
  jitterMs: 0,
  loss: { kind: 'none' },
  rateBps: 1e6,
  queue: { packets: 10 },
  isCut: false,
};
const LINK: EmulatorLink = {
  name: 'a:b',
  devices: ['lh-never-a', 'lh-never-b'],
  settings: { forward: SETTINGS, backward: SETTINGS },
};

test('impossible links are refused before anything is set up, with every mistake', async () => {
  const wrong: EmulatorLink = {
    ...LINK,
    devices: ['a name that is far too long', 'lh-never-a'],
    settings: { forward: { ...SETTINGS, delayMs: -1 }, backward: { ...SETTINGS, rateBps: Number.NaN } },
  };
  await expect(startEmulator([LINK, wrong], 0.5)).rejects.toMatchObject({ code: 'lab-input-invalid' });
  const message = await startEmulator([LINK, wrong], 0.5).catch((failure: unknown) => String(failure));
  for (const mistake of [
    'two links are named a:b',
    'the device lh-never-a is named twice',
    'device name "a name that is far too long"',
    'link a:b: forward: delayMs is -1',
    'link a:b: backward: rateBps is NaN',
    'the seed is 0.5',
  ]) {
    expect(message).toContain(mistake);
  }
});
