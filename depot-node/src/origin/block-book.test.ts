import { describe, expect, test } from 'vitest';
import { BlockBook } from './block-book.ts';

const ORIGIN = { scheme: 'https', host: 'origin.example', port: 443 } as const;
const HERE = '198.51.100.0/24';
const THERE = '203.0.113.0/24';

describe('an origin that blocks were bad for', () => {
  test('is asked for all by the clients that met it, and by others when a second network has met it', () => {
    const book = new BlockBook(() => 0);
    book.noteFit(ORIGIN);
    book.noteUnfit(ORIGIN, HERE);
    book.noteUnfit(ORIGIN, HERE);
    expect([HERE, THERE].map((network) => book.isUnfit(ORIGIN, network))).toEqual([true, false]);
    expect(book.isFit(ORIGIN)).toBe(true);
    book.noteUnfit(ORIGIN, THERE);
    expect([HERE, THERE, '192.0.2.0/24'].map((network) => book.isUnfit(ORIGIN, network))).toEqual([
      true,
      true,
      true,
    ]);
    expect(book.isFit(ORIGIN)).toBe(false);
  });

  test('is tried again after ten minutes, and what one network meets then is its own', () => {
    let nowMs = 0;
    const book = new BlockBook(() => nowMs);
    book.noteUnfit(ORIGIN, HERE);
    book.noteUnfit(ORIGIN, THERE);
    nowMs += 600_000;
    expect(book.isUnfit(ORIGIN, HERE)).toBe(false);
    book.noteUnfit(ORIGIN, HERE);
    expect([HERE, THERE].map((network) => book.isUnfit(ORIGIN, network))).toEqual([true, false]);
  });
});
