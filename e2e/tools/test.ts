/**
 * `npm test`: everything that proves Longhaul, one after the other until something fails. `unit`, `lab` or
 * `e2e` runs one of them, with the arguments of its test runner.
 */
import { runInTurn } from './run-steps.ts';

const VITEST = 'node_modules/vitest/vitest.mjs';
const PLAYWRIGHT = 'node_modules/@playwright/test/cli.js';

const [part, ...args] = process.argv.slice(2);
const unit = [
  ['e2e/tools/install.ts', 'unit'],
  [VITEST, 'run', ...args],
] as const;
const install = ['e2e/tools/install.ts'] as const;
const lab = [install, [VITEST, 'run', '--config', 'e2e/lab/vitest.config.ts', ...args]] as const;
const attack = [['e2e/attack/main.ts', '--quick']] as const;
const e2e = [install, [PLAYWRIGHT, 'test', '--config', 'e2e', ...args]] as const;

if (part === undefined) await runInTurn([...unit, ...lab, ...attack, ...e2e]);
else if (part === 'unit') await runInTurn(unit);
else if (part === 'lab') await runInTurn(lab);
else if (part === 'e2e') await runInTurn(e2e);
else {
  process.stderr.write(`There are no tests '${part}': give unit, lab, e2e, or nothing for all of them.\n`);
  process.exitCode = 2;
}
