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
