import { expect, test } from 'vitest';
import { createPipePool } from './pipe-pool.ts';

test('a pool that was refused a pipe gives what comes back to it, and asks for more only once time has passed', () => {
  let asked = 0;
  let isRefusing = false;
  const pool = createPipePool({
    makePipe: () => {
      asked += 1;
      return isRefusing ? undefined : { output: asked, input: asked };
    },
    close: () => undefined,
  });
  const first = pool.take();
  isRefusing = true;
  expect([pool.take(), pool.take()]).toEqual([undefined, undefined]);
  expect(asked).toBe(2);
  if (first) pool.give(first);
  expect(pool.take()).toBe(first);
  isRefusing = false;
  expect(pool.take()).toBeUndefined();
  pool.shrink();
  expect(pool.take()).toBeDefined();
});
