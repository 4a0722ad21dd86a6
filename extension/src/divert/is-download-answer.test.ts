import { expect, it } from 'vitest';
import { isDownloadAnswer } from './is-download-answer.ts';

it.each<[Record<string, string>, boolean]>([
  [{ 'content-type': 'application/octet-stream' }, true],
  [{ 'content-type': 'Application/X-ISO9660-image; a=b' }, true],
  [{ 'content-type': 'text/html', 'content-disposition': 'ATTACHMENT; filename="a"' }, true],
  [{ 'content-type': 'application/zip', 'content-disposition': 'inline' }, false],
  [{ 'content-type': 'text/html' }, false],
  [{ 'content-type': 'image/svg+xml' }, false],
  [{ 'content-type': 'application/rss+xml' }, false],
  [{ 'content-type': 'application/json' }, false],
  [{ 'content-type': 'application/pdf' }, false],
  [{ 'content-type': 'video/mp4' }, false],
  [{ 'content-type': 'application/x-xpinstall' }, false],
  [{}, false],
])('says of %j whether browsers save it: %s', (headers, isDownload) => {
  expect(isDownloadAnswer(new Headers(headers))).toBe(isDownload);
});
