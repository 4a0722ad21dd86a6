/**
 * Writes the tables of docs/errors.md and docs/limits.md from the sources; with `--check` only compares. Errors come
 * from the registry, limits from every documented numeric constant of the packages.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ERRORS, GIB, KIB, MIB } from '@longhaul/shared';
import { root } from './run-steps.ts';

const SOURCES = ['shared', 'depot-node', 'master-service', 'extension'].map((name) => `${name}/src/**/*.ts`);
const CONSTANT = /\/\*\* ([^*]+?) \*\/\n(?:export )?const ([A-Z][A-Z0-9_]+)(?:: number)? = ([^;\n]+);/g;
const UNITS: Readonly<Record<string, number>> = { KIB, MIB, GIB };

const isCheck = process.argv.includes('--check');
const stale = [update('docs/errors.md', errorTable()), update('docs/limits.md', limitTable())].filter(
  (name) => name !== undefined,
);
if (isCheck && stale.length > 0) {
  process.stderr.write(`${stale.join(' and ')} differ from the sources: run \`npm run fix\`.\n`);
  process.exitCode = 1;
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, blame, retry, message }]) => {
    return `| \`${code}\` | ${status || '-'} | ${blame} | ${retry ? 'yes' : 'no'} | ${message} |`;
  });
  const head = [
    '| code | status | whose fault | retry helps | what it says |',
    '| --- | --- | --- | --- | --- |',
  ];
  return [...head, ...rows].join('\n');
}

function limitTable(): string {
  const rows = globSync(SOURCES, { cwd: root })
    .filter((file) => !file.includes('.test.') && !file.includes('/testing/'))
    .toSorted()
    .flatMap((file) => constantsOf(join(root, file)));
  return ['| constant | value | why | where |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function constantsOf(path: string): string[] {
  const matches = readFileSync(path, 'utf8').matchAll(CONSTANT);
  return [...matches].flatMap(([, reason = '', name = '', expression = '']) => {
    const value = evaluate(expression);
    const text = reason.replaceAll(/\s*\n\s*\*?\s*/g, ' ');
    return value === undefined ? [] : [`| \`${name}\` | ${value} | ${text} | ${relative(root, path)} |`];
  });
}

/** The value of a product of numbers and size units; `undefined` for anything else. */
function evaluate(expression: string): string | undefined {
  const factors = expression.split('*').map((factor) => {
    const text = factor.trim();
    return UNITS[text] ?? (/^[0-9][0-9_.e-]*$/.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN);
  });
  const value = factors.reduce((product, factor) => product * factor, 1);
  return Number.isNaN(value) ? undefined : String(value);
}

/** Replaces what stands between the markers; names the file when that changes it. */
function update(name: string, table: string): string | undefined {
  const path = join(root, name);
  const text = readFileSync(path, 'utf8');
  const parts = /^([^]*<!-- table -->\n)[^]*(<!-- end -->[^]*)$/.exec(text);
  if (!parts) throw new Error(`${name} has no place for its table`);
  const updated = `${parts[1]}\n${table}\n\n${parts[2]}`;
  if (updated === text) return undefined;
  if (!isCheck) writeFileSync(path, updated);
  return name;
}
