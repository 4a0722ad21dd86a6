import { expect, test } from 'vitest';
import { TinyChunks } from './tiny-chunks.ts';

function setUp() {
  const clock = { ms: 1000 };
  return { clock, tiny: new TinyChunks(() => clock.ms) };
}

test('who sends few tiny chunks, or many now and then, does not rest', () => {
  const { clock, tiny } = setUp();
  for (let turn = 0; turn < 1000; turn += 1) {
    expect(tiny.note(100)).toBe(0);
    clock.ms += 1;
  }
  expect(tiny.note(2000)).toBe(0);
});

test('who sends more than can be handled rests until the others have had their time as well', () => {
  const { clock, tiny } = setUp();
  expect(tiny.note(10_000), 'the first').toBe(100);
  expect(tiny.note(10_000), 'another one').toBe(200);
  clock.ms += 200;
  expect(tiny.note(100)).toBe(0);
});

test('many connections together bring no more than one could', () => {
  const { clock, tiny } = setUp();
  const readyAtMs = Array.from({ length: 30 }, () => clock.ms);
  let chunks = 0;
  for (const endMs = clock.ms + 10_000; clock.ms < endMs; clock.ms += 1) {
    for (const [index, atMs] of readyAtMs.entries()) {
      if (atMs > clock.ms) continue;
      chunks += 10_000;
      readyAtMs[index] = clock.ms + tiny.note(10_000);
    }
  }
  // A hundred for each millisecond, and what each of them began with.
  expect(chunks).toBeLessThanOrEqual(10_000 * 100 + 30 * 10_000);
});
