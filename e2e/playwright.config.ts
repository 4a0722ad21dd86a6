import { defineConfig } from '@playwright/test';
import type { WorldOptions } from './fixtures/test.ts';

export default defineConfig<object, WorldOptions>({
  testDir: 'specs',
  globalSetup: './fixtures/global-setup.ts',
  outputDir: '../test-results',
  snapshotPathTemplate: '{testDir}/screens/{arg}{ext}',
  // Real browsers and services on shared cores, which mostly wait: two worlds at once, with patience.
  workers: 2,
  timeout: 90_000,
  expect: { timeout: 30_000 },
  reporter: 'list',
  forbidOnly: Boolean(process.env.CI),
  projects: [
    { name: 'chromium', testDir: 'specs/browser', use: { browserKind: 'chromium' } },
    { name: 'firefox', testDir: 'specs/browser', use: { browserKind: 'firefox' } },
    { name: 'command-line', testDir: 'specs/command-line' },
  ],
});
