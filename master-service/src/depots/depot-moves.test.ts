import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from '@longhaul/shared';
import { openStateFolder } from '@longhaul/shared/service';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import { Facts } from '../facts/facts.ts';
import { FactsFile } from '../facts/facts-file.ts';
import { startMaster, TestClock, type TestMaster } from '../testing/start-master.ts';
import { TestDepot } from '../testing/test-depot.ts';
import { createToken } from '../testing/test-operator.ts';
import { DEPOT_FACTS, DEPOT_PROVED } from './depot-facts.ts';
import { DepotMoves } from './depot-moves.ts';
import { FileDepotStore } from './depot-store.ts';

const HERE = '192.0.2.7';
const ELSEWHERE = '198.51.100.7';
const PLACE = { host: 'd1.example', port: 80, tls: false };
const HERE_V6 = '2001:db8:1::7';
const MINUTES = 60;
const DAYS = 86_400;
const FIGURES = { rttMs: 5, goodputBps: 3e8, sentBytes: 2e7, retransmittedBytes: 0 };

const open = new Set<TestMaster>();
afterEach(async () => {
  for (const { master } of open) await master.close();
  open.clear();
});

/** Where depots of a name answer. */
const names = new Map<string, readonly string[]>();

async function start(init: Parameters<typeof startMaster>[0] = {}): Promise<TestMaster> {
  const askDepot = async ({ host }: { readonly host: string }) =>
    ok({ addresses: names.get(host) ?? [host] });
  const master = await startMaster({ ...init, config: { links: [] }, askDepot });
  open.add(master);
  return master;
}

/** Registers the next process of a depot, which proves that it is at these addresses. */
async function prove(master: TestMaster, depot: TestDepot, addresses: readonly string[]): Promise<TestDepot> {
  names.set('d1.example', addresses);
  const process = depot.nextProcess();
  const { status, text } = await process.register(master, { host: 'd1.example' });
  expect(status, text).toBe(200);
  return process;
}

/** A master to which d1 at these addresses and d2 have told of the link between them, and d1 of its ends. */
async function measured(master: TestMaster, addresses: readonly string[], depot = new TestDepot('d1')) {
  const neighbour = new TestDepot('d2');
  expect((await neighbour.register(master)).status).toBe(200);
  const process = await prove(master, depot, addresses);
  await measureEnds(master, process);
  expect((await neighbour.heartbeat(master, { links: [{ to: 'd1', ...FIGURES }] })).status).toBe(200);
  expect(await known(master)).toEqual({ links: 2, clients: 1, origins: 1 });
  return process;
}

async function measureEnds(master: TestMaster, process: TestDepot): Promise<void> {
  const { status, text } = await process.heartbeat(master, {
    links: [{ to: 'd2', ...FIGURES }],
    clients: [{ prefix: '203.0.113.0/24', ...FIGURES }],
    origins: [{ host: 'origin.example', rttMs: 5, receivedBytes: 2e7, lostBytes: 0, limit: 'network' }],
  });
  expect(status, text).toBe(200);
}

/** How many links, client networks and origins anything is measured of. */
async function known({ url }: TestMaster) {
  const page = await (await fetch(`${url}/metrics`)).text();
  const held = (kind: string) =>
    Number(new RegExp(`^longhaul_master_facts\\{kind="${kind}"[^}]*\\} (\\d+)$`, 'm').exec(page)?.[1]);
  return { links: held('link-measured'), clients: held('client-measured'), origins: held('origin-measured') };
}

const NOTHING = { links: 0, clients: 0, origins: 0 };
const ALL = { links: 2, clients: 1, origins: 1 };
const movesTold = ({ events }: TestMaster) => events.filter(({ type }) => type === 'depot-moved').length;

test('a depot that has moved to another network is measured anew: what it told, and what others told of their links to it', async () => {
  const master = await start();
  const depot = await measured(master, [HERE]);
  master.clock.advance(6 * MINUTES);
  const moved = await prove(master, depot, [ELSEWHERE]);
  expect(await known(master)).toEqual(NOTHING);
  expect(movesTold(master)).toBe(1);
  await measureEnds(master, moved);
  master.clock.advance(6 * MINUTES);
  await prove(master, moved, [ELSEWHERE]);
  expect(await known(master)).toEqual({ ...ALL, links: 1 });
});

test('origins that a depot that has moved could not connect to are planned with again', async () => {
  const master = await start();
  const depot = await prove(master, new TestDepot('d1'), [HERE]);
  const leftOut = async () => {
    await depot.heartbeat(master, {
      originsTried: [{ host: 'origin.example', port: 443, isReached: false }],
    });
    return master.events.filter(({ type }) => type === 'origin-unreached').length;
  };
  expect(await leftOut()).toBe(1);
  expect(await leftOut()).toBe(1);
  // Its line has another address now; its process is the same, and does not register again.
  names.set('d1.example', [ELSEWHERE]);
  master.clock.advance(6 * MINUTES);
  expect(await leftOut()).toBe(2);
  await expect.poll(() => movesTold(master)).toBe(1);
  // Else it would be one that is left out already.
  expect(await leftOut()).toBe(3);
});

test('another machine in another network that has joined with a token for the id is measured anew', async () => {
  const master = await start();
  await measured(master, [HERE]);
  const next = new TestDepot('d1');
  const token = await createToken(master, { depot: 'd1' });
  expect((await next.join(master, token)).status).toBe(200);
  names.set('d1.example', [ELSEWHERE]);
  expect((await next.registerJoined(master, { host: 'd1.example' })).status).toBe(200);
  expect(await known(master)).toEqual(NOTHING);
});

test.each<[string, readonly (readonly string[])[]]>([
  ['has another address of the same network', [[HERE], ['192.0.2.200']]],
  [
    'has both families, and answers at one of them now and then',
    [[HERE, HERE_V6], [HERE], [HERE_V6], [HERE]],
  ],
  ['is there by the other family at last', [[HERE], [HERE_V6], [HERE]]],
  [
    'has several addresses, of which one has become another one',
    [
      [HERE, ELSEWHERE],
      ['203.0.113.7', HERE],
    ],
  ],
])('a depot that %s has not moved', async (_, proofs) => {
  const master = await start();
  const [first = [], ...others] = proofs;
  let depot = await measured(master, first);
  for (const addresses of others) {
    master.clock.advance(6 * MINUTES);
    depot = await prove(master, depot, addresses);
    expect(await known(master)).toEqual(ALL);
  }
  expect(movesTold(master)).toBe(0);
});

test('a depot with two lines that comes by the one or the other moves once at most, until one was gone for a week', async () => {
  const master = await start();
  let depot = await measured(master, [HERE]);
  for (const address of [ELSEWHERE, HERE, ELSEWHERE, HERE]) {
    master.clock.advance(2 * DAYS);
    depot = await prove(master, depot, [address]);
  }
  expect(movesTold(master)).toBe(1);
  for (let days = 0; days < 8; days += 1) {
    master.clock.advance(DAYS);
    depot = await prove(master, depot, [HERE]);
  }
  master.clock.advance(6 * MINUTES);
  await prove(master, depot, [ELSEWHERE]);
  expect(movesTold(master)).toBe(2);
});

test('masters forget what was measured of a depot that another one has found in another network', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const depot = await measured(one, [HERE]);
  await expect.poll(() => known(two)).toEqual(ALL);
  clock.advance(6 * MINUTES);
  await prove(two, depot, [ELSEWHERE]);
  await expect.poll(() => known(one)).toEqual(NOTHING);
  expect(await known(two)).toEqual(NOTHING);
});

test('a master that starts again knows what was measured, and where its depots were', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-moves-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = openStateFolder(folder);
  const clock = new TestClock();
  const init = () => ({ depotStore: new FileDepotStore(state), factsFile: new FactsFile(state), clock });
  const before = await start(init());
  const depot = await measured(before, [HERE]);
  clock.advance(6 * MINUTES);
  const moved = await prove(before, depot, [ELSEWHERE]);
  await measureEnds(before, moved);
  await before.master.close();
  open.delete(before);
  clock.advance(6 * MINUTES);
  const after = await start(init());
  expect(await known(after)).toEqual({ ...ALL, links: 1 });
  const same = await prove(after, moved, [ELSEWHERE]);
  expect(await known(after)).toEqual({ ...ALL, links: 1 });
  clock.advance(6 * MINUTES);
  await prove(after, same, ['203.0.113.7']);
  expect(await known(after)).toEqual(NOTHING);
});

test.each([
  ['right', 0],
  ['six hours ahead, and is set back', -6 * 3_600_000],
  ['six hours behind, and is set forward', 6 * 3_600_000],
])('a depot that moves is told of where the clock was %s', (_, setByMs) => {
  const startedAtMs = 1_000_000_000;
  const facts = new Facts({ kinds: DEPOT_FACTS, startedAtMs });
  const moved: string[] = [];
  const record = () => ({ publicKey: 'key' });
  new DepotMoves({ facts, registry: { record }, onMoved: (depot) => moved.push(depot) });
  const prove = (address: string, nowMs: number) =>
    facts.learn(DEPOT_PROVED, 'd1', { ...PLACE, publicKey: 'key', addresses: [address] }, nowMs);
  prove(HERE, startedAtMs + 1000);
  facts.shift(setByMs);
  expect(moved, 'to nowhere by the clock alone').toEqual([]);
  prove(ELSEWHERE, startedAtMs + setByMs + 2000);
  expect(moved).toEqual(['d1']);
});
