import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{shared,depot-node,master-service,extension,e2e}/**/*.test.{ts,tsx}'],
    globalSetup: ['e2e/tools/provide-nats-server.ts'],
    // Most of them wait most of the time.
    maxWorkers: 2,
    testTimeout: 20_000,
    // Hooks start programs, and overlays of many depots.
    hookTimeout: 60_000,
    // What a test waits for comes when it comes: on a loaded machine later than a second.
    expect: { poll: { timeout: 10_000 } },
  },
});
