import { expect, it } from 'vitest';
import { download } from '../testing/fake-downloads.ts';
import { isSameFile } from './is-same-file.ts';

const same = (browsers: string, depots: string) =>
  isSameFile(download({ mime: browsers }), { totalBytes: 50_000_000, mime: depots });

it('takes a file of another length for another file, where both lengths are known', () => {
  const mime = 'application/zip';
  expect(isSameFile(download({ mime, totalBytes: 5 }), { totalBytes: 6, mime })).toBe(false);
  expect(isSameFile(download({ mime, totalBytes: 5 }), { totalBytes: undefined, mime })).toBe(true);
  expect(isSameFile(download({ mime, totalBytes: undefined }), { totalBytes: 6, mime })).toBe(true);
});

it('never takes a page or an error message for the file', () => {
  expect(same('application/octet-stream', 'text/html')).toBe(false);
  expect(same('', 'text/html; charset=utf-8')).toBe(false);
  expect(same('application/zip', 'text/html')).toBe(false);
  expect(same('application/octet-stream', 'application/json')).toBe(false);
});

it('accepts a page that the browser itself takes for a page', () => {
  expect(same('text/html', 'text/html; charset=utf-8')).toBe(true);
});

it('refuses a clearly different type and accepts spellings and vague types', () => {
  expect(same('application/zip', 'video/mp4')).toBe(false);
  expect(same('application/x-gzip', 'application/gzip')).toBe(true);
  expect(same('application/zip', 'application/octet-stream')).toBe(true);
  expect(same('application/octet-stream', 'text/plain')).toBe(true);
  expect(same('application/octet-stream', 'application/x-iso9660-image')).toBe(true);
  expect(same('video/mp4', '')).toBe(true);
});
