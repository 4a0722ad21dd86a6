/** `npm run fix`: repairs what `npm run check` complains of, where that can be done by itself. */
import { runSteps } from './run-steps.ts';

await runSteps([
  { name: 'tables in docs', command: [process.execPath, 'e2e/tools/docs-tables.ts'] },
  { name: 'pages of results', command: [process.execPath, 'e2e/tools/result-pages.ts'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--fix'] },
  { name: 'format', command: ['biome', 'check', '--write', '.'] },
]);
