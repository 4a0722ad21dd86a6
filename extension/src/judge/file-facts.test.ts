import { describe, expect, it } from 'vitest';
import { type FileFacts, factsOf, isSameFile } from './file-facts.ts';

const file = (patch: Partial<FileFacts> = {}): FileFacts => ({
  totalBytes: 50,
  etag: '"v1"',
  lastModified: 'Sun, 01 Nov 2026 12:00:00 GMT',
  mime: 'application/x-iso9660-image',
  ...patch,
});

describe('the facts of a file', () => {
  it('are those of the whole, also in the answer for a part', () => {
    const headers = new Headers({ 'content-length': '1', 'content-range': 'bytes 0-0/50', etag: '"v1"' });
    expect(factsOf(206, headers)).toEqual({ totalBytes: 50, etag: '"v1"', lastModified: '', mime: '' });
    expect(factsOf(200, new Headers({ 'content-length': '50' })).totalBytes).toBe(50);
  });

  it('invent no length', () => {
    expect(factsOf(206, new Headers({ 'content-range': 'bytes 0-0/*' })).totalBytes).toBeUndefined();
    expect(factsOf(200, new Headers({ 'content-length': '1e3' })).totalBytes).toBeUndefined();
    expect(factsOf(200, new Headers()).totalBytes).toBeUndefined();
  });

  it('name the type without its parameters', () => {
    expect(factsOf(200, new Headers({ 'content-type': 'Application/ZIP; x=y' })).mime).toBe(
      'application/zip',
    );
  });
});

describe('a file', () => {
  it('is the same when everything is, whatever kind of file it is', () => {
    for (const mime of ['application/x-iso9660-image', 'text/html', '']) {
      expect(isSameFile(file({ mime }), file({ mime }))).toBe(true);
    }
    expect(isSameFile(file({ etag: '' }), file({ etag: '' }))).toBe(true);
  });

  it.each<[string, Partial<FileFacts>]>([
    ['another length', { totalBytes: 51 }],
    ['no length', { totalBytes: undefined }],
    ['another ETag', { etag: '"v2"' }],
    ['no ETag', { etag: '' }],
    ['another date', { lastModified: 'Mon, 02 Nov 2026 12:00:00 GMT' }],
    ['another type, as a page of errors has', { mime: 'text/html' }],
  ])('is not the same with %s', (_what, patch) => {
    expect(isSameFile(file(), file(patch))).toBe(false);
    expect(isSameFile(file(patch), file())).toBe(false);
  });

  it('is the same, too, when only the answer with a part of it leaves date or type out', () => {
    expect(isSameFile(file(), file({ lastModified: '', mime: '' }))).toBe(true);
    expect(isSameFile(file({ etag: '' }), file({ etag: '', lastModified: '' }))).toBe(false);
  });

  it('is not known to be the same by its length alone', () => {
    const bare = file({ etag: '', lastModified: '' });
    expect(isSameFile(bare, bare)).toBe(false);
  });
});
