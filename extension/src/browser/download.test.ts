import { expect, it } from 'vitest';
import { toDownload } from './download.ts';

const ITEM = { id: 1, url: 'https://origin.example/file.iso' } as const;

it.each([
  ['Chromium', { totalBytes: 0, fileSize: 0 }, 0],
  ['Firefox', { totalBytes: -1, fileSize: 0 }, 0],
])('knows that an empty answer, which %s calls whole, has no bytes', (_browser, sizes, totalBytes) => {
  const whole = toDownload({ ...ITEM, state: 'complete', bytesReceived: 0, ...sizes });
  expect(whole.totalBytes).toBe(totalBytes);
});

it('knows no size of what runs until the browser does', () => {
  const running = { ...ITEM, state: 'in_progress', bytesReceived: 7 } as const;
  expect(toDownload({ ...running, totalBytes: 0, fileSize: 0 }).totalBytes).toBeUndefined();
  expect(toDownload({ ...running, totalBytes: -1, fileSize: 9 }).totalBytes).toBe(9);
});
