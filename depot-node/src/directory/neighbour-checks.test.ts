import { type DepotEntry, type HeartbeatRequest, LonghaulError } from '@longhaul/shared';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { NeighbourChecks } from './neighbour-checks.ts';

let overlay: TestOverlay;
let release: () => void;

beforeEach(async () => {
  overlay = await startTestOverlay(['d1', 'd2'], (_, response) => {
    response.write('x'.repeat(1_000_000));
    release = () => response.end();
  });
});
afterEach(() => overlay.close());

/** Heartbeats that named depots that were not reached. */
const words = () =>
  overlay.master.requests.flatMap(({ path, body }) => {
    const { unreached } = body as HeartbeatRequest;
    return unreached ? [{ from: path.split('/')[3], unreached }] : [];
  });

test('the master is told at once of a neighbour that is gone, by the depot whose connections broke', async () => {
  const response = await fetch(overlay.relayUrl(`${overlay.originUrl}/file`));
  const reader = response.body?.getReader();
  await reader?.read();
  // The next heartbeat of its own is an hour away.
  await overlay.depot('d2').depot.close(0);
  await expect.poll(words).toContainEqual({ from: 'd1', unreached: ['d2'] });
  await reader?.cancel().catch(() => {});
});

test('nothing is told of a neighbour whose connections only end with their downloads', async () => {
  const asked = fetchRaw(overlay.relayUrl(`${overlay.originUrl}/file`));
  await expect.poll(() => overlay.originRequests.length).toBe(1);
  release();
  await asked;
  const left = new AbortController();
  const response = await fetch(overlay.relayUrl(`${overlay.originUrl}/file`), { signal: left.signal });
  await response.body?.getReader().read();
  left.abort();
  await expect
    .poll(() => overlay.depot('d2').events.filter(({ type }) => type === 'tunnel').length)
    .toBeGreaterThan(1);
  await overlay.depot('d2').depot.close(0);
  await expect.poll(words).not.toEqual([]);
  expect(words().filter(({ unreached }) => unreached.includes('d1'))).toEqual([]);
});

test('a neighbour that is not there is looked at again, less and less often, until it is', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const looks: number[] = [];
  const unreached: number[] = [];
  let isThere = false;
  let isKnown = true;
  const d2 = { ...overlay.master.depots.get('d2'), state: 'up' } as DepotEntry;
  const checks = new NeighbourChecks({
    findDepot: () => (isKnown ? d2 : undefined),
    probe: async () => {
      looks.push(Date.now());
      if (!isThere) throw new Error('not there');
    },
    onUnreached: () => unreached.push(Date.now()),
    steadyMs: Date.now,
  });
  const began = Date.now();
  checks.suspect('d2');
  await vi.advanceTimersByTimeAsync(250_000);
  const seconds = () => looks.map((atMs) => Math.round((atMs - began) / 1000));
  expect(seconds()).toEqual([0, 2, 6, 14, 30, 62, 122, 182, 242]);
  expect(unreached).toEqual(looks);
  isThere = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(looks).toHaveLength(10);
  expect(unreached).toHaveLength(9);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(looks, 'it is there').toHaveLength(10);
  isThere = false;
  checks.suspect('d2');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(looks, 'it begins anew').toHaveLength(12);
  isKnown = false;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(looks, 'it has left the overlay').toHaveLength(12);
  checks.close();
});

/** Checks of neighbours by a clock that is moved, whose looks end as is said; gives seconds since the start. */
function watchNeighbours() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const began = Date.now();
  const seconds = () => (Date.now() - began) / 1000;
  const world = { looks: [] as number[], ids: new Set<string>(), unreached: [] as number[], ends: 'there' };
  const d2 = { ...overlay.master.depots.get('d2'), state: 'up' } as DepotEntry;
  const checks = new NeighbourChecks({
    findDepot: (id) => ({ ...d2, id }),
    probe: async ({ id }) => {
      world.looks.push(seconds());
      world.ids.add(id);
      const cause = Object.assign(new Error(world.ends), { code: world.ends });
      if (world.ends !== 'there') throw new LonghaulError('next-depot-unreachable', { cause });
    },
    onUnreached: () => world.unreached.push(seconds()),
    steadyMs: Date.now,
  });
  onTestFinished(() => checks.close());
  return { world, checks };
}

test('a neighbour is not said to be gone for want of descriptors, however long, but looked at until it is known', async () => {
  const { world, checks } = watchNeighbours();
  world.ends = 'EMFILE';
  checks.suspect('d2');
  await vi.advanceTimersByTimeAsync(61_000);
  expect(world.looks).toHaveLength(31);
  expect(world.unreached).toEqual([]);
  world.ends = 'ECONNREFUSED';
  await vi.advanceTimersByTimeAsync(2_000);
  expect(world.unreached).toEqual([62]);
  world.ends = 'there';
  await vi.advanceTimersByTimeAsync(600_000);
  expect(world.looks, 'it is there').toHaveLength(33);
});

test('a neighbour to which there is no route is told of only where that lasts, as for a family that a depot lacks', async () => {
  const { world, checks } = watchNeighbours();
  world.ends = 'ENETUNREACH';
  checks.suspect('d2');
  await vi.advanceTimersByTimeAsync(14_000);
  world.ends = 'there';
  await vi.advanceTimersByTimeAsync(3_000);
  expect(world.unreached).toEqual([]);
  world.ends = 'ENETUNREACH';
  checks.suspect('d2');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.unreached[0]).toBe(33);
});

test('neighbours that are away are looked at again at once when a master is there again', async () => {
  const { world, checks } = watchNeighbours();
  world.ends = 'ETIMEDOUT';
  checks.suspect('d2');
  await vi.advanceTimersByTimeAsync(70_000);
  expect(world.looks.at(-1)).toBe(62);
  checks.lookAgain();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(world.looks.slice(-3)).toEqual([62, 70, 72]);
});

test('none of many neighbours that are away is forgotten, although only some are looked at in the same while', async () => {
  const { world, checks } = watchNeighbours();
  world.ends = 'ETIMEDOUT';
  for (const half of [0, 20]) {
    for (let number = half; number < half + 20; number += 1) checks.suspect(`d${number}`);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await vi.advanceTimersByTimeAsync(70_000);
  world.ids.clear();
  checks.lookAgain();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(world.ids.size).toBe(40);
});
