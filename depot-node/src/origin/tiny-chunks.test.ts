import { expect, test } from 'vitest';
import { TinyChunks } from './tiny-chunks.ts';

function setUp() {
  const clock = { ms: 1000 };
  return { clock, tiny: new TinyChunks(() => clock.ms) };
}

test('who sends few tiny chunks, or many now and then, does not rest', () => {
  const { clock, tiny } = setUp();
  const sender = tiny.sender();
  for (let turn = 0; turn < 1000; turn += 1) {
    expect(sender.note(100)).toBe(0);
    clock.ms += 1;
  }
  expect(sender.note(2000)).toBe(0);
});

test('who sends more than can be handled rests for what he has sent, longer where others do so, too', () => {
  const { clock, tiny } = setUp();
  const [one, other] = [tiny.sender(), tiny.sender()];
  expect(one.note(10_000)).toBe(100);
  expect(other.note(10_000)).toBe(200);
  clock.ms += 200;
  expect(one.note(100)).toBe(0);
});

test('who sends a page of a few tiny chunks waits for nobody, however many send nothing else', () => {
  const { clock, tiny } = setUp();
  const hostile = Array.from({ length: 500 }, () => ({ sender: tiny.sender(), readyAtMs: 0 }));
  for (let look = 0; look < 20; look += 1) {
    for (const one of hostile) {
      // As much as one read of one-byte chunks brings.
      if (one.readyAtMs <= clock.ms) one.readyAtMs = clock.ms + one.sender.note(10_922);
    }
    clock.ms += 1000;
    expect(tiny.sender().note(1)).toBe(0);
    expect(tiny.sender().note(20)).toBeLessThanOrEqual(120);
  }
});

test.each([
  ['stay', false],
  ['connect anew for each read', true],
])('many connections together bring no more than one could, also when they %s', (_, isAnew) => {
  const { clock, tiny } = setUp();
  const all = Array.from({ length: 30 }, () => ({ sender: tiny.sender(), readyAtMs: clock.ms }));
  let chunks = 0;
  for (const endMs = clock.ms + 10_000; clock.ms < endMs; clock.ms += 1) {
    for (const one of all) {
      if (one.readyAtMs > clock.ms) continue;
      if (isAnew) one.sender = tiny.sender();
      chunks += 10_000;
      one.readyAtMs = clock.ms + one.sender.note(10_000);
    }
  }
  // A hundred for each millisecond, and what each of them began with.
  expect(chunks).toBeLessThanOrEqual(10_000 * 100 + 30 * 10_000);
});
