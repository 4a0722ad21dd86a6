import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPair, openStateFolder } from '@longhaul/shared/service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FileDepotStore } from './depots/depot-store.ts';
import { FileEnrolmentStore, type KeptEnrolment } from './enrolment/enrolment-store.ts';
import { FactsFile } from './facts/facts-file.ts';
import { createTestMaster, TestClock } from './testing/start-master.ts';
import { askOperatorsMaster } from './testing/test-operator.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PREFIXES = 20_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-kept-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const textOf = (name: string) => readFileSync(join(folder, name), 'utf8');

/** A token for a day, as a master of this name has made it. */
function token(source: string, timeMs: number): KeptEnrolment {
  const value = { publicKey: generateKeyPair().publicKey, lifeMs: DAY_MS };
  return { kind: 'join-token', key: 'a'.repeat(16), timeMs, value, source, epoch: 7, sequence: 3 };
}

/** A master whose files are in the folder. */
function openMaster(clock: TestClock, asTable?: string, steadyMs?: () => number) {
  const state = openStateFolder(folder);
  return createTestMaster({
    clock,
    depotStore: new FileDepotStore(state),
    enrolmentStore: new FileEnrolmentStore(state),
    factsFile: new FactsFile(state),
    prefixPaths: { asTable },
    ...(steadyMs ? { steadyMs } : {}),
  });
}

test('a master that is ended while it reads its files of prefixes leaves what it keeps of tokens and keys as it was', async () => {
  const clock = new TestClock();
  await new FileEnrolmentStore(openStateFolder(folder)).save([token('here', clock.nowMs - HOUR_MS)]);
  const before = textOf('enrolment.json');
  const asTable = join(folder, 'as.txt');
  const lines = Array.from(
    { length: PREFIXES },
    (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}/32 1`,
  );
  writeFileSync(asTable, lines.join('\n'));
  const { master, events } = openMaster(clock, asTable);
  const starting = master.listen();
  await Promise.all([master.close(), expect(starting).rejects.toMatchObject({ code: 'shutting-down' })]);
  expect(textOf('enrolment.json')).toBe(before);
  expect(events).not.toContainEqual(expect.objectContaining({ type: 'failed' }));
});

test('a master that is ended before it starts leaves all that it keeps as it was', async () => {
  const clock = new TestClock();
  await new FileEnrolmentStore(openStateFolder(folder)).save([token('pe', clock.nowMs)]);
  const first = openMaster(clock);
  await first.master.listen();
  await first.master.close();
  const names = ['enrolment.json', 'facts.jsonl'];
  const before = names.map(textOf);
  clock.advance(1);
  await openMaster(clock).master.close();
  expect(names.map(textOf)).toEqual(before);
});

test('a token that has expired stays so when a clock that was days behind at the start is set right', async () => {
  const made = new TestClock();
  await new FileEnrolmentStore(openStateFolder(folder)).save([token('here', made.nowMs)]);
  const before = textOf('enrolment.json');
  const clock = new TestClock();
  clock.nowMs = made.nowMs - DAY_MS;
  let steadyMs = 0;
  const created = openMaster(clock, undefined, () => steadyMs);
  const { url } = await created.master.listen();
  const master = { ...created, url, port: Number(new URL(url).port) };
  const pass = async (ms: number) => {
    steadyMs += ms;
    clock.nowMs += ms;
    expect((await fetch(`${url}/v1/status`)).status).toBe(200);
  };
  clock.nowMs += 3 * DAY_MS;
  // Nobody is heard who could say which time is right: the one before goes on for a while.
  for (let times = 0; times < 3; times += 1) await pass(HOUR_MS / 60);
  expect(created.events).toContainEqual({ type: 'clock-set', byMs: 3 * DAY_MS });
  const states = async () => {
    const { tokens } = await askOperatorsMaster(master, { do: 'list-tokens' });
    return tokens.map(({ id, state }) => [id, state]);
  };
  expect(await states()).toEqual([['a'.repeat(16), 'expired']]);
  await created.master.close();
  expect(textOf('enrolment.json')).toBe(before);
});
