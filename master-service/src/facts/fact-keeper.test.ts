import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateFolder, type StateFolder } from '@longhaul/shared/service';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { OverlayClock } from '../clock/overlay-clock.ts';
import type { FactKind } from './fact.ts';
import { FactKeeper } from './fact-keeper.ts';
import { Facts } from './facts.ts';
import { FactsFile, type Restored } from './facts-file.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 1_795_000_000_000;
const NOTE = {
  name: 'note',
  schema: z.string(),
  keys: /./,
  most: 10,
  whenFull: 'refuse',
  lifeMs: 60_000,
  isKept: true,
} satisfies FactKind<unknown>;

function keep(file?: FactsFile) {
  const machine = { wallMs: 100 * HOUR_MS, steadyMs: 0 };
  const facts = new Facts({ kinds: [NOTE] });
  const clock = new OverlayClock({
    wallMs: () => machine.wallMs,
    steadyMs: () => machine.steadyMs,
    onDoubt: () => {},
    onSet: (byMs) => facts.shift(byMs),
  });
  const keeper = new FactKeeper({
    facts,
    file,
    now: () => clock.now(),
    steadyMs: () => machine.steadyMs,
    sayAgain: () => {},
    saveAgain: () => {},
    onFailure: (failure) => {
      throw failure;
    },
    onRestored: () => {},
  });
  keeper.start();
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      machine.wallMs += 1000;
      machine.steadyMs += 1000;
      keeper.look();
    }
  };
  return { machine, clock, facts, keeper, pass };
}

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
  ['back by little', -2_000],
])(
  'a clock that is set %s makes nothing older or younger, at whatever time it is followed',
  async (_, byMs) => {
    const { machine, clock, facts, keeper, pass } = keep();
    facts.learn(NOTE, 'a', 'x', clock.now());
    const ageMs = () => clock.now() - (facts.store.newest(NOTE, 'a')?.timeMs ?? 0);
    pass(10);
    machine.wallMs += byMs;
    pass(1);
    expect(ageMs()).toBe(11_000);
    pass(34);
    expect(clock.now()).toBe(machine.wallMs);
    expect(ageMs()).toBe(45_000);
    pass(14);
    expect(facts.store.newest(NOTE, 'a')).toBeDefined();
    pass(2);
    expect(facts.store.newest(NOTE, 'a')).toBeUndefined();
    await keeper.close();
  },
);

/** A keeper with a file, and how often that was begun. */
function keepInFile() {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-keeper-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = openStateFolder(folder);
  let begun = 0;
  const counted: StateFolder = {
    ...state,
    saveParts: (name, parts) => {
      begun += 1;
      return state.saveParts(name, parts);
    },
  };
  const kept = keep(new FactsFile(counted));
  return { ...kept, begun: () => begun, text: () => readFileSync(join(folder, 'facts.jsonl'), 'utf8') };
}

test('a file is written at once when a master ends, and again when what still ran has changed something', async () => {
  const { facts, keeper, begun, text } = keepInFile();
  const before = begun();
  const others = Promise.withResolvers<undefined>();
  const closed = keeper.close(others.promise);
  expect(begun(), 'nobody is waited for').toBe(before + 1);
  facts.learn(NOTE, 'a', 'the last word', 0);
  others.resolve(undefined);
  await closed;
  expect(text()).toContain('the last word');
  expect(begun()).toBe(before + 2);
});

test('a file is written once when a master ends that has nothing to do', async () => {
  const { facts, keeper, begun, text } = keepInFile();
  facts.learn(NOTE, 'a', 'the last word', 0);
  const before = begun();
  await keeper.close(Promise.resolve());
  expect(text()).toContain('the last word');
  expect(begun()).toBe(before + 1);
});

test('how long the end may take follows what saving took, and is boundless before that is known', async () => {
  const { keeper, machine } = keepInFile();
  expect(keeper.closesWithinMs).toBe(Number.POSITIVE_INFINITY);
  const closed = keeper.close();
  machine.steadyMs += 2000;
  await closed;
  expect(keeper.closesWithinMs).toBe(6000);
  expect(keep().keeper.closesWithinMs, 'without a file').toBe(0);
});

/** Masters of one folder, one after the other. */
function folderOfMaster() {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-keeper-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kind = { ...NOTE, lifeMs: 8 * DAY_MS };
  const lasting = { ...NOTE, name: 'lasting', lifeMs: 60 * DAY_MS };
  const startAt = (startMs: number) => {
    const file = new FactsFile(openStateFolder(folder));
    const clock = { nowMs: startMs };
    const facts = new Facts({ kinds: [kind, lasting], source: 'one', epoch: file.epochAfter(startMs) });
    const told: (readonly [Restored, boolean])[] = [];
    const keeper = new FactKeeper({
      facts,
      file,
      now: () => clock.nowMs,
      steadyMs: () => 0,
      sayAgain: () => {},
      saveAgain: () => {},
      onFailure: (failure) => {
        throw failure;
      },
      onRestored: (...restored) => told.push(restored),
    });
    keeper.start();
    return { clock, facts, keeper, told, noteOf: (key: string) => facts.store.newest(kind, key) };
  };
  return { folder, kind, lasting, startAt, isSetAside: () => existsSync(join(folder, 'facts.jsonl.before')) };
}

test.each(['as it ends', 'while it runs'])(
  'a start with a clock a month ahead, which is set right %s, loses nothing of what was kept',
  async (when) => {
    const { kind, startAt, isSetAside } = folderOfMaster();
    const first = startAt(NOW_MS);
    for (const key of ['a', 'b']) first.facts.learn(kind, key, `${key} of before`, NOW_MS);
    await first.keeper.close();
    const ahead = startAt(NOW_MS + 30 * DAY_MS);
    expect(ahead.told).toMatchObject([[{ facts: 0, outlived: 2, refused: 0 }, true]]);
    ahead.facts.learn(kind, 'b', 'b of since', ahead.clock.nowMs);
    if (when === 'while it runs') {
      ahead.facts.shift(-30 * DAY_MS);
      ahead.clock.nowMs = NOW_MS + 30_000;
    }
    await ahead.keeper.close();
    expect(isSetAside()).toBe(true);
    const again = startAt(NOW_MS + 60_000);
    expect(again.noteOf('a')).toMatchObject({ value: 'a of before', timeMs: NOW_MS });
    expect(again.noteOf('b')).toMatchObject({ value: 'b of since' });
    expect(again.told).toMatchObject([[{ facts: 2, outlived: 0, refused: 0 }, false]]);
    await again.keeper.close();
    expect(isSetAside(), 'once its facts are in the file').toBe(false);
  },
);

test('what was set aside makes nobody older or younger than it is, and nothing known that is over', async () => {
  const { kind, startAt } = folderOfMaster();
  const first = startAt(NOW_MS);
  first.facts.learn(kind, 'a', 'x', NOW_MS);
  await first.keeper.close();
  await startAt(NOW_MS + 30 * DAY_MS).keeper.close();
  const later = startAt(NOW_MS + 7 * DAY_MS);
  expect(later.noteOf('a')?.timeMs).toBe(NOW_MS);
  later.clock.nowMs = NOW_MS + 9 * DAY_MS;
  later.keeper.look();
  await later.keeper.close();
  const last = startAt(NOW_MS + 10 * DAY_MS);
  expect(last.noteOf('a')).toBeUndefined();
  await last.keeper.close();
});

test('a start with a clock ahead loses nothing either where most of what was kept still holds', async () => {
  const { kind, lasting, startAt } = folderOfMaster();
  const first = startAt(NOW_MS);
  first.facts.learn(kind, 'a', 'x', NOW_MS);
  for (const key of ['b', 'c', 'd', 'e']) first.facts.learn(lasting, key, 'y', NOW_MS);
  await first.keeper.close();
  const ahead = startAt(NOW_MS + 10 * DAY_MS);
  expect(ahead.told).toMatchObject([[{ facts: 4, outlived: 1 }, true]]);
  await ahead.keeper.close();
  const again = startAt(NOW_MS + 60_000);
  expect(again.noteOf('a')?.timeMs).toBe(NOW_MS);
  await again.keeper.close();
});

test('what was set aside by a process that wrote nothing itself is known again', async () => {
  const { kind, startAt, folder } = folderOfMaster();
  const first = startAt(NOW_MS);
  first.facts.learn(kind, 'a', 'x', NOW_MS);
  await first.keeper.close();
  new FactsFile(openStateFolder(folder)).setAside();
  const again = startAt(NOW_MS + 60_000);
  expect(again.noteOf('a')?.timeMs).toBe(NOW_MS);
  await again.keeper.close();
});

test('what is set aside after a process whose clock was set right while it ran stays so', async () => {
  const { kind, startAt, isSetAside } = folderOfMaster();
  const ahead = startAt(NOW_MS + 365 * DAY_MS);
  ahead.facts.shift(-365 * DAY_MS);
  ahead.clock.nowMs = NOW_MS;
  ahead.facts.learn(kind, 'a', 'x', NOW_MS);
  await ahead.keeper.close();
  const later = startAt(NOW_MS + 30 * DAY_MS);
  expect(later.told).toMatchObject([[{ facts: 0, outlived: 1 }, true]]);
  await later.keeper.close();
  expect(isSetAside()).toBe(true);
});

test('a file that was written within a day is not set aside', async () => {
  const { kind, startAt, isSetAside } = folderOfMaster();
  const first = startAt(NOW_MS);
  first.facts.learn(kind, 'old', 'x', NOW_MS, NOW_MS - 7.5 * DAY_MS);
  first.facts.learn(kind, 'young', 'x', NOW_MS);
  await first.keeper.close();
  const next = startAt(NOW_MS + 0.9 * DAY_MS);
  expect(next.told).toMatchObject([[{ facts: 1, outlived: 1, refused: 0 }, false]]);
  await next.keeper.close();
  expect(isSetAside()).toBe(false);
});
