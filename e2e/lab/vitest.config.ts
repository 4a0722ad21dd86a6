import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The lab's own tests: real traffic over emulated links, so one file after the other, with patience. */
export default defineConfig({
  root: join(import.meta.dirname, '..', '..'),
  test: {
    include: ['e2e/lab/tests/*.lab.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A look is a program that is started at a site.
    expect: { poll: { timeout: 10_000 } },
  },
});
