import { constants } from 'node:buffer';
import { mkdir, mkdtemp, open as openFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { FactKind } from './fact.ts';
import { Facts } from './facts.ts';
import { FactsFile } from './facts-file.ts';

const HOUR_MS = 3_600_000;
const NOW = 1_795_000_000_000;
const NOTE = {
  name: 'note',
  schema: z.looseObject({ text: z.string() }),
  keys: /^[a-z0-9]+$/,
  most: 10_000,
  whenFull: 'forget-oldest',
  lifeMs: 10 * HOUR_MS,
  isKept: true,
} satisfies FactKind<unknown>;
const PASSING = { ...NOTE, name: 'passing', isKept: false };
const kinds = [NOTE, PASSING];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'longhaul-facts-'));
});
afterEach(() => rm(dir, { recursive: true }));
const open = () => new FactsFile(openStateFolder(dir));

test('facts outlive the process, as old as they are, with their stamps and what nobody here understands', async () => {
  const facts = new Facts({ kinds, source: 'one', epoch: 7 });
  facts.learn(NOTE, 'a', { text: 'x', colour: 'green' } as { text: string }, NOW - HOUR_MS);
  facts.learn(PASSING, 'b', { text: 'y' }, NOW);
  for (let index = 0; index < 1000; index += 1) facts.learn(NOTE, `n${index}`, { text: 'z' }, NOW);
  await open().save(facts, NOW);
  expect(await readdir(dir)).toEqual(['facts.jsonl']);

  const file = open();
  const again = new Facts({ kinds, source: 'one', epoch: file.epochAfter(NOW) });
  expect(file.restore(again, NOW + 2 * HOUR_MS)).toMatchObject({ facts: 1001, outlived: 0, refused: 0 });
  expect(again.store.newest(NOTE, 'a')).toMatchObject({
    kind: 'note',
    key: 'a',
    source: 'one',
    epoch: 7,
    sequence: 1,
    timeMs: NOW - HOUR_MS,
    value: { text: 'x', colour: 'green' },
  });
  expect(again.store.newest(PASSING, 'b')).toBeUndefined();
});

test('each process has an epoch after those before, also where the clock was set back', async () => {
  expect(open().epochAfter(NOW)).toBe(NOW);
  await open().save(new Facts({ kinds, source: 'one', epoch: NOW }), NOW);
  expect(open().epochAfter(NOW - HOUR_MS)).toBe(NOW + 1);
});

test('what has outlived itself while nobody was there is left out', async () => {
  const facts = new Facts({ kinds });
  facts.learn(NOTE, 'a', { text: 'x' }, NOW);
  await open().save(facts, NOW);
  expect(open().restore(new Facts({ kinds }), NOW + 11 * HOUR_MS)).toMatchObject({
    facts: 0,
    outlived: 1,
    refused: 0,
  });
});

test('damaged lines are left out and counted, and the others hold', async () => {
  const facts = new Facts({ kinds });
  for (const key of ['a', 'b', 'c']) facts.learn(NOTE, key, { text: 'x' }, NOW);
  await open().save(facts, NOW);
  const lines = (await readFile(join(dir, 'facts.jsonl'), 'utf8')).split('\n');
  lines[2] = lines[2]?.slice(0, 20) ?? '';
  lines.push('{"kind":"note"}');
  await writeFile(join(dir, 'facts.jsonl'), lines.join('\n'));
  expect(open().restore(new Facts({ kinds }), NOW)).toMatchObject({ facts: 2, outlived: 0, refused: 2 });
});

test('a file that is longer than a text can be is read as any other', async () => {
  const facts = new Facts({ kinds });
  for (const key of ['a', 'b']) facts.learn(NOTE, key, { text: 'x' }, NOW);
  await open().save(facts, NOW);
  const file = await openFile(join(dir, 'facts.jsonl'), 'r+');
  const [head = '', ...lines] = (await file.readFile('utf8')).split('\n');
  // Between what is good one damaged line, of which the disk keeps nothing but its end.
  const { bytesWritten } = await file.write(`${head}\n${lines[0]}\n`, 0);
  await file.truncate(bytesWritten);
  await file.write(`\n${lines[1]}\n`, bytesWritten + constants.MAX_STRING_LENGTH);
  await file.close();
  expect(open().restore(new Facts({ kinds }), NOW)).toMatchObject({ facts: 2, outlived: 0, refused: 1 });
});

test('a line of this master by a later process keeps it from learning nothing', async () => {
  const later = new Facts({ kinds, source: 'one', epoch: 9 });
  later.learn(NOTE, 'a', { text: 'damaged' }, NOW);
  await open().save(later, NOW);
  const again = new Facts({ kinds, source: 'one', epoch: 8 });
  expect(open().restore(again, NOW)).toMatchObject({ facts: 0, outlived: 0, refused: 1 });
  again.learn(NOTE, 'a', { text: 'learned' }, NOW);
  expect(again.store.newest(NOTE, 'a')?.value).toEqual({ text: 'learned' });
});

test.each([
  ['empty', '', 0],
  ['of another program', '<html></html>\n<body>', 2],
  ['of a later version', '{"version":2,"epoch":1,"savedAtMs":0}\n{}', 2],
  ['of the last process there can be', `{"version":1,"epoch":${Number.MAX_SAFE_INTEGER},"savedAtMs":0}`, 1],
])('a file that is %s says nothing, and its lines are counted', async (_, text, refused) => {
  await writeFile(join(dir, 'facts.jsonl'), text);
  expect(open().epochAfter(NOW)).toBe(NOW);
  expect(open().restore(new Facts({ kinds }), NOW)).toMatchObject({ facts: 0, outlived: 0, refused });
});

test('a file that cannot be read is counted, too', async () => {
  await mkdir(join(dir, 'facts.jsonl'));
  expect(open().restore(new Facts({ kinds }), NOW)).toMatchObject({ facts: 0, outlived: 0, refused: 1 });
});
