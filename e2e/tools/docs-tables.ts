/**
 * Writes the tables of docs/errors.md, docs/limits.md and docs/attacks.md from the sources; with `--check`
 * only compares. Errors come from the registry, limits from every documented numeric constant of the
 * packages, attacks from their list. A default of a configuration is listed by its key, which its comment
 * begins with.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, GIB, KIB, MIB } from '@longhaul/shared';
import { attackTable } from '../attack/attack-table.ts';
import { ATTACKS } from '../attack/attacks.ts';
import { root } from './run-steps.ts';

const SOURCES = ['shared', 'depot-node', 'master-service', 'extension'].map((name) => `${name}/src/**/*.ts`);
const CONSTANT =
  /\/\*\*\s(?:\s+\*\s)?((?:(?!\*\/)[^])+?)\s\*\/\n(?:export )?const ([A-Z][A-Z0-9_]+)(?:: number)? = ([^;\n]+);/g;
/** Keys of a configuration, and what stands behind them. */
const KEYS = /^((?:`[A-Za-z.]+`(?:, )?)+): (.*)$/;
const UNITS: Readonly<Record<string, number>> = { KIB, MIB, GIB };

const isCheck = process.argv.includes('--check');
const stale = [
  update('docs/errors.md', errorTable()),
  update('docs/limits.md', limitTables()),
  update('docs/attacks.md', attackTable(ATTACKS)),
].filter((name) => name !== undefined);
if (isCheck && stale.length > 0) {
  process.stderr.write(`${stale.join(' and ')} differ from the sources: run \`npm run fix\`.\n`);
  process.exitCode = 1;
}

function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, blame, retry, direct, message }]) => {
    const [again, there] = [retry, direct].map((helps) => (helps ? 'yes' : 'no'));
    return `| \`${code}\` | ${status || '-'} | ${blame} | ${again} | ${there} | ${message} |`;
  });
  const head = [
    '| code | status | whose fault | retry helps | going direct helps | what it says |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  return [...head, ...rows].join('\n');
}

/** First what operators set, by its key; then what stands in the sources. */
function limitTables(): string {
  const limits = globSync(SOURCES, { cwd: root })
    .filter((file) => !file.includes('.test.') && !file.includes('/testing/'))
    .toSorted()
    .flatMap((file) => limitsOf(file));
  const keys = limits.flatMap(({ key, value, why, where }) => {
    const configuration = where.startsWith('master-service') ? 'master.yaml' : 'depot.yaml';
    return key === undefined ? [] : [`| ${configuration} | ${key} | ${value} | ${why} |`];
  });
  const constants = limits.flatMap(({ key, name, value, why, where }) =>
    key === undefined ? [`| \`${name}\` | ${value} | ${why} | ${where} |`] : [],
  );
  return [
    '## Keys of the configuration',
    '',
    '| file | key | default | why |',
    '| --- | --- | --- | --- |',
    ...keys,
    '',
    '## Constants of the sources',
    '',
    '| constant | value | why | where |',
    '| --- | --- | --- | --- |',
    ...constants,
  ].join('\n');
}

interface Limit {
  /** The keys of the configuration that it is the default of: its comment begins with them. */
  readonly key: string | undefined;
  readonly name: string;
  readonly value: string;
  readonly why: string;
  readonly where: string;
}

function limitsOf(where: string): Limit[] {
  const matches = readFileSync(join(root, where), 'utf8').matchAll(CONSTANT);
  return [...matches].flatMap(([, comment = '', name = '', expression = '']) => {
    const value = evaluate(expression);
    const text = comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim();
    const [, key, why = text] = KEYS.exec(text) ?? [];
    return value === undefined ? [] : [{ key, name, value, why, where }];
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
