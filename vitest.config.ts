import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{shared,depot-node,master-service,extension,e2e}/**/*.test.{ts,tsx}'],
    globalSetup: ['e2e/tools/provide-nats-server.ts'],
    testTimeout: 20_000,
  },
});
