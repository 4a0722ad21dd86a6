import { expect, test } from 'vitest';
import { GatheredChunks } from './gathered-chunks.ts';

test('tiny chunks are told of while they come, so that one turn of the event loop does not bring them all', () => {
  const told: number[] = [];
  const gathered = new GatheredChunks(
    () => undefined,
    (tiny) => told.push(tiny),
  );
  for (let come = 0; come < 10_000; come += 1) gathered.add(Buffer.from('x'));
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(10_000);
});

test('tiny chunks that came in one turn go on as one, in their order', () => {
  const passed: Buffer[] = [];
  const gathered = new GatheredChunks(
    (chunk) => passed.push(chunk),
    () => undefined,
  );
  for (let come = 0; come < 5_000; come += 1) gathered.add(Buffer.from(String(come % 10)));
  gathered.flush();
  expect(Buffer.concat(passed).toString()).toBe('0123456789'.repeat(500));
  expect(passed.length).toBeLessThanOrEqual(2);
});

test('a large chunk does not wait behind a small one, and comes after it', () => {
  const passed: string[] = [];
  const gathered = new GatheredChunks(
    (chunk) => passed.push(`${String.fromCharCode(chunk[0] ?? 0)}${chunk.length}`),
    () => undefined,
  );
  gathered.add(Buffer.alloc(5000, 'a'));
  gathered.add(Buffer.alloc(65_536, 'b'));
  gathered.add(Buffer.alloc(10, 'c'));
  expect(passed).toEqual(['a5000', 'b65536']);
  gathered.flush();
  expect(passed.at(-1)).toBe('c10');
});
