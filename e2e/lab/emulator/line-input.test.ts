import { expect, test } from 'vitest';
import { LineInput } from './line-input.ts';

/** An input that arrives in these pieces. */
function inputOf(pieces: readonly string[]): LineInput {
  const left = [...pieces];
  return new LineInput((chunk) => chunk.write(left.shift() ?? ''));
}

test('lines are the same however the input is cut into pieces', () => {
  const text = 'first\n{"zwei":"\u00fc"}\n\nlast\n';
  for (let size = 1; size <= text.length; size += 1) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const input = inputOf(pieces);
    const lines = Array.from({ length: 4 }, () => input.readLine());
    expect(lines).toEqual(['first', '{"zwei":"\u00fc"}', '', 'last']);
    expect(input.readLine()).toBeUndefined();
  }
});

test('what is not a whole line yet waits for its end', () => {
  const input = inputOf(['one\ntwo\nthr', 'ee\n']);
  expect(input.readAvailable()).toEqual(['one', 'two']);
  expect(input.readAvailable()).toEqual(['three']);
  expect(input.readAvailable()).toBeUndefined();
});

test('nothing to read at the moment is not the end', () => {
  let calls = 0;
  const input = new LineInput((chunk) => {
    calls += 1;
    if (calls === 1) throw Object.assign(new Error('try again'), { code: 'EAGAIN' });
    return chunk.write('line\n');
  });
  expect(input.readAvailable()).toEqual([]);
  expect(input.readAvailable()).toEqual(['line']);
});

test('a broken connection is the end', () => {
  const input = new LineInput(() => {
    throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  });
  expect(input.readLine()).toBeUndefined();
});
