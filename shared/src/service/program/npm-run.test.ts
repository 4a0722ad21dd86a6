import { expect, test } from 'vitest';
import { findNpmRun } from './npm-run.ts';
import type { ProcessTable } from './process-table.ts';

interface Row {
  parent: number;
  /** Whether the kernel cannot be asked for its parent. */
  isUnknown?: boolean;
  readonly session: number;
  readonly command: readonly string[];
}

const SCRIPT = "'longhaul-depot'";
const SELF = 30;

/** npm (10), its shell (20), this program (30), all of session 5. */
function table(change: Readonly<Record<number, Partial<Row>>> = {}) {
  const rows = new Map<number, Row>([
    [10, { parent: 5, session: 5, command: ['npm exec longhaul-depot --config x'] }],
    [20, { parent: 10, session: 5, command: ['sh', '-c', `${SCRIPT} --config x`] }],
    [SELF, { parent: 20, session: 5, command: ['node', 'longhaul-depot', '--config', 'x'] }],
  ]);
  for (const [pid, row] of Object.entries(change))
    rows.set(Number(pid), { ...(rows.get(Number(pid)) ?? fail(pid)), ...row });
  const processes: ProcessTable = {
    parentOf: (pid) => (rows.get(pid)?.isUnknown ? 'unknown' : rows.get(pid)?.parent),
    sessionOf: (pid) => rows.get(pid)?.session,
    commandOf: (pid) => rows.get(pid)?.command,
  };
  const find = (script: string | null = SCRIPT) =>
    findNpmRun(
      {
        pid: SELF,
        parent: () => rows.get(SELF)?.parent ?? 1,
        env: {
          ...(script === null ? {} : { npm_lifecycle_script: script }),
          npm_execpath: '/usr/lib/npm-cli.js',
        },
      },
      processes,
    );
  return { rows, find, reparent: (pid: number) => Object.assign(rows.get(pid) ?? {}, { parent: 1 }) };
}

function fail(pid: string): never {
  throw new Error(`there is no process ${pid}`);
}

test.each([
  ['its shell, which npm has told to end', 20, SELF],
  ['npm, which was killed while its shell waits on', 10, 20],
])('a program that npm runs notices that it has lost %s', (_, lost, orphan) => {
  const { rows, find, reparent } = table();
  const npm = find();
  expect(npm?.isThere()).toBe(true);
  rows.delete(lost);
  reparent(orphan);
  expect(npm?.isThere()).toBe(false);
});

test('so does one for which the shell has made way', () => {
  const { find, reparent } = table({ [SELF]: { parent: 10 } });
  const npm = find();
  expect(npm?.isThere()).toBe(true);
  reparent(SELF);
  expect(npm?.isThere()).toBe(false);
});

test('a program that cannot ask the kernel, for want of a descriptor, has not lost its npm', () => {
  const { rows, find } = table();
  const npm = find();
  Object.assign(rows.get(20) ?? {}, { isUnknown: true });
  expect(npm?.isThere()).toBe(true);
});

test('a runner that does not name itself is known by the program that it is', () => {
  const command = ['/usr/bin/node', '/usr/lib/npm-cli.js', 'run', 'depot'];
  expect(table({ 10: { command } }).find()).toBeDefined();
});

test.each([
  ['is none', { 10: { command: ['bash'] } }],
  ['is of another session: the program was given one of its own', { [SELF]: { session: SELF } }],
  ['has started a program that started this one', { 20: { command: ['sh', 'start-all.sh'] } }],
  ['has started a shell for something else', { 20: { command: ['sh', '-c', 'start-all'] } }],
])('a program is not bound to an npm above it that %s', (_, change) => {
  expect(table(change).find()).toBeUndefined();
});

test.each([
  ['longhaul-depot --config x >log 2>&1 &'],
  ['nohup longhaul-depot &'],
  ['longhaul-depot & longhaul-master'],
])('a program that its script puts into the background is bound to nobody: %s', (script) => {
  const shell = { command: ['sh', '-c', script] };
  expect(table({ 20: shell }).find(script)).toBeUndefined();
});

test('a script may do things before, and redirect output', () => {
  const script = 'cd /etc && longhaul-depot --config x 2>&1';
  expect(table({ 20: { command: ['sh', '-c', script] } }).find(script)).toBeDefined();
});

test('a program that no npm has started is bound to nobody', () => {
  expect(table().find(null)).toBeUndefined();
});
