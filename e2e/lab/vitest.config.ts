import { defineConfig } from 'vitest/config';

/** The lab's own tests: real traffic over emulated links, so one file after the other, with patience. */
export default defineConfig({
  test: {
    include: ['tests/*.lab.ts'],
    root: import.meta.dirname,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
