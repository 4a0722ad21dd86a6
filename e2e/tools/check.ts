/** `npm run check`: everything that can be said about the sources without running them. */
import { runSteps } from './run-steps.ts';

const PROJECTS = [
  'shared',
  'shared/tsconfig.node.json',
  'depot-node',
  'master-service',
  'master-service/web',
  'master-service/web/tsconfig.test.json',
  'extension',
  'e2e',
];

/** What runs for somebody. In `e2e` tests are what it is for. */
const IN_PRODUCTION = ['shared', 'depot-node', 'master-service', 'extension'].map(
  (name) => `--workspace=${name}`,
);

await runSteps([
  { name: 'format', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { name: 'lint, with import directions', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  ...PROJECTS.map((project) => ({ name: `types of ${project}`, command: ['tsc', '-p', project] as const })),
  { name: 'circles of imports', command: [process.execPath, 'e2e/tools/check-circles.ts'] },
  { name: 'width of comments', command: [process.execPath, 'e2e/tools/long-comments.ts'] },
  { name: 'unused code', command: ['knip'] },
  { name: 'code that only tests use', command: ['knip', '--production', ...IN_PRODUCTION] },
  { name: 'add-on as its store looks at it', command: [process.execPath, 'e2e/tools/lint-addon.ts'] },
  { name: 'pages of results', command: [process.execPath, 'e2e/tools/result-pages.ts', '--check'] },
  { name: 'tables in docs', command: [process.execPath, 'e2e/tools/docs-tables.ts', '--check'] },
]);
