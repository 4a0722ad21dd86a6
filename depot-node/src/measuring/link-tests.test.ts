import { request } from 'node:http';
import { formatLinkTestTarget, heartbeatRequestSchema, type LinkReport } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { type RunningDepot, startTestOverlay, type TestOverlay } from '../testing/overlay.ts';

const { kernel } = openKernel();
const measuring = { bytesPerHour: 1_500_000 };
const BYTES = 300_000;

let overlay: TestOverlay;
beforeEach(async () => {
  overlay = await startTestOverlay(['d2'], (_, response) => response.end(), undefined, {
    config: { measuring },
  });
});
afterEach(() => overlay.close());

const testsOf = ({ events }: RunningDepot) => events.filter(({ type }) => type === 'link-tested');

/** What a depot reports of its link to another one at a heartbeat now. */
async function reportOf(id: string, other: string): Promise<LinkReport | undefined> {
  const { master } = overlay;
  const before = master.requests.length;
  overlay.depot(id).depot.renew({ enrolmentSecret: master.secret, trustedAuthorities: [], tls: undefined });
  const path = `/v1/depots/${id}/heartbeat`;
  const find = () => master.requests.slice(before).find((one) => one.path === path);
  await expect.poll(find).toBeDefined();
  return heartbeatRequestSchema.parse(find()?.body).links.find(({ to }) => to === other);
}

/** Adds a depot whose first heartbeat is answered with a test. */
function joinAndTest(id: string, from: string, bytes = BYTES): Promise<RunningDepot> {
  overlay.master.linkTest = { from, bytes };
  return overlay.addDepot(id);
}

async function ask(target: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asking = request(`${overlay.depot('d2').url}${target}`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asking.once('error', reject);
    asking.end();
  });
}

test.skipIf(!kernel)(
  'a depot that is told to test a link fetches from the other one, which tells what went over it',
  async () => {
    const d1 = await joinAndTest('d1', 'd2');
    await expect.poll(() => testsOf(d1)).toMatchObject([{ depot: 'd2', role: 'receiver', bytes: BYTES }]);
    await expect.poll(() => testsOf(overlay.depot('d2'))).toMatchObject([{ depot: 'd1', role: 'sender' }]);
    const report = await reportOf('d2', 'd1');
    expect(report?.sentBytes).toBeGreaterThanOrEqual(BYTES);
    expect(report?.rttMs).toBeLessThan(1000);
  },
);

test('a depot measures the round trips to the others without being told', async () => {
  await overlay.addDepot('d1');
  await expect.poll(async () => (await reportOf('d1', 'd2'))?.rttMs).toBeLessThan(1000);
  expect(testsOf(overlay.depot('d2'))).toEqual([]);
});

test('an hour has no more bytes than are configured, in both directions together', async () => {
  const first = await joinAndTest('d1', 'd2');
  await expect.poll(() => testsOf(first)).toHaveLength(1);
  // A depot asks for a new directory seldom.
  overlay.advanceSeconds(60);
  const second = await joinAndTest('d3', 'd2');
  await expect
    .poll(() => overlay.depot('d2').events.filter(({ type }) => type === 'refusal'))
    .toMatchObject([{ code: 'depot-full' }]);
  expect(testsOf(second)).toEqual([]);
});

test('nobody but a depot of the overlay gets bytes, and none gets more than a test has', async () => {
  expect(await ask(formatLinkTestTarget(BYTES))).toBe(403);
  const forged = `d2 ${overlay.nowSeconds() * 1000} ${'A'.repeat(86)}`;
  expect(await ask(formatLinkTestTarget(BYTES), { 'longhaul-proof': forged })).toBe(403);
  expect(await ask(formatLinkTestTarget(4_000_001))).toBe(400);
  expect(testsOf(overlay.depot('d2'))).toEqual([]);
});

test('a depot without bytes for it tests nothing', async () => {
  overlay.master.linkTest = { from: 'd2', bytes: BYTES };
  const d1 = await overlay.addDepot('d1', { measuring: { bytesPerHour: 0 } });
  expect(await reportOf('d1', 'd2')).toBeUndefined();
  expect(testsOf(d1)).toEqual([]);
});
