import { decodeTicket, followUpAnswerSchema, type PlanAnswer, parseRelayTarget } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../../bus/in-process-bus.ts';
import { startMaster, TEST_LINKS, type TestMaster } from '../../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../../testing/test-depot.ts';

const HOST = 'origin.example';
const ORIGIN = { host: HOST, port: 443 };
const STORAGE = { host: 'storage.example', port: 443 };
const LEFT_OUT = 'Left out as exit depot: d2, which could not connect to the origin of late.';
/** The first time that a depot is left out, and the longest. */
const [FIRST_SECONDS, MOST_SECONDS] = [120, 3600];
/** d4 is as good an exit as d2, but for a little. */
const LINKS = [
  ...TEST_LINKS,
  { between: ['d1', 'd4'], rttMs: 195, lossRate: 0.001, rateBps: 1e9, windowBytes: 64e6 },
  { between: ['d3', 'd4'], rttMs: 185, lossRate: 0.001, rateBps: 1e9, windowBytes: 64e6 },
  { between: ['d4', 'origin'], rttMs: 5, rateBps: 1e9 },
];

let master: TestMaster;
let second: TestMaster;
let depots: TestDepot[];
let files = 0;

beforeEach(async () => {
  const meeting: InProcessMeeting = new Set();
  const config = { links: LINKS.map((link) => ({ ...link, fixed: true })) };
  master = await startMaster({ config, bus: new InProcessBus('one', meeting) });
  second = await startMaster({ config, bus: new InProcessBus('two', meeting), clock: master.clock });
  depots = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
});
afterEach(() => Promise.all([master.master.close(), second.master.close()]));

async function plan({
  at = master,
  // Another file each time: a plan is given again within the minute.
  url = `https://${HOST}/${(files += 1)}`,
  via = [] as string[],
  kind = 'get',
} = {}): Promise<PlanAnswer> {
  const body = JSON.stringify({ url, kind, sizeBytes: 1e9, ...(via.length > 0 ? { via } : {}) });
  const answer = await fetch(`${at.url}/v1/plans`, { method: 'POST', body });
  return (await answer.json()) as PlanAnswer;
}
const exitOf = async (of: Parameters<typeof plan>[0] = {}) => (await plan(of)).chain.at(-1);

const depot = (id: string) => depots.find((one) => one.id === id) as TestDepot;
const tried = (id: string, isReached: boolean, origin = ORIGIN) =>
  depot(id).heartbeat(master, { originsTried: [{ ...origin, isReached }] });
/** The first chain of the ticket that d1 gets for where a download is led, or for other chains. */
async function followUp({ location }: PlanAnswer, url: string, avoid?: string[]) {
  const { pathname, search } = new URL(location);
  const relay = parseRelayTarget(pathname + search);
  if (!relay.ok) throw relay.error;
  const followed = await depot('d1').followUp(master, relay.value.ticket, url, avoid);
  expect(followed.status, followed.text).toBe(200);
  const decoded = decodeTicket(followUpAnswerSchema.parse(JSON.parse(followed.text)).ticket);
  if (!decoded.ok) throw decoded.error;
  return decoded.value.claims.chains[0];
}
/** A download over a depot has come from the origin. */
const measured = (id: string) => depot(id).heartbeat(master, { origins: [{ host: HOST, rttMs: 5 }] });

/** Time passes, in which all depots are heard. */
async function pass(seconds: number): Promise<void> {
  master.clock.advance(seconds);
  for (const one of depots) await one.heartbeat(master);
}

test('a depot that cannot connect to an origin ends no chain to it, at this port, and is told so', async () => {
  expect((await plan()).chain).toEqual(['d1', 'd2']);
  await tried('d2', false);
  const { chain, alternatives, reasons } = await plan();
  expect(chain.at(-1)).toBe('d4');
  expect(alternatives.map((other) => other.at(-1))).not.toContain('d2');
  expect(reasons).toContain(LEFT_OUT);
  expect(await exitOf({ url: `https://files.${HOST}/f` })).toBe('d2');
  expect(await exitOf({ url: `http://${HOST}/f` })).toBe('d2');
});

test('other masters leave it out as well, and plan with it again when it has connected', async () => {
  await expect.poll(() => exitOf({ at: second })).toBe('d2');
  await tried('d2', false);
  await expect.poll(() => exitOf({ at: second })).toBe('d4');
  await tried('d2', true);
  expect((await plan()).reasons).not.toContain(LEFT_OUT);
  await expect.poll(async () => (await plan({ at: second })).reasons).not.toContain(LEFT_OUT);
});

test('who fails again while others reach the origin is left out for longer, within bounds', async () => {
  for (let leftOut = FIRST_SECONDS; ; leftOut = Math.min(2 * leftOut, MOST_SECONDS)) {
    await tried('d2', false);
    await pass(1);
    await measured('d4');
    await pass(leftOut - 2);
    expect((await plan()).reasons, `${leftOut} s`).toContain(LEFT_OUT);
    await pass(1);
    expect((await plan()).reasons, `${leftOut} s`).not.toContain(LEFT_OUT);
    if (leftOut === MOST_SECONDS) break;
  }
  await tried('d2', true);
  await tried('d2', false);
  await pass(FIRST_SECONDS);
  expect((await plan()).reasons).not.toContain(LEFT_OUT);
});

test('one other depot’s word lengthens nothing where several have measured the origin, two others’ does', async () => {
  const failAgain = async (...others: string[]) => {
    await tried('d2', false);
    await pass(1);
    for (const id of others) await measured(id);
    await pass(FIRST_SECONDS - 1);
    await tried('d2', false);
    await pass(FIRST_SECONDS);
    return (await plan()).reasons;
  };
  for (const id of ['d1', 'd3', 'd4']) await measured(id);
  expect(await failAgain('d4')).not.toContain(LEFT_OUT);
  expect(await failAgain('d3', 'd4')).toContain(LEFT_OUT);
});

test('an origin that is down for all is planned with again soon after, however long that was', async () => {
  await measured('d4');
  for (let minutes = 0; minutes < 60; minutes += 3) {
    for (const { id } of depots) await tried(id, false);
    expect((await plan()).decision).toBe('direct');
    await pass(180);
  }
  for (const { id } of depots) await tried(id, false);
  await pass(FIRST_SECONDS);
  expect((await plan()).decision).toBe('chain');
  expect((await plan()).reasons.filter((reason) => reason.includes('exit depot'))).toEqual([]);
});

test('a depot speaks for itself alone, and one that says so of everything is only left out itself', async () => {
  for (const port of [80, 443, 8080]) await tried('d3', false, { host: HOST, port });
  expect((await plan()).chain).toEqual(['d1', 'd2']);
  expect((await plan()).reasons).not.toContain(LEFT_OUT);
});

test('a depot that begins anew may have another way', async () => {
  await tried('d2', false);
  expect(await exitOf()).toBe('d4');
  await depot('d2').nextProcess().register(master);
  expect((await plan()).reasons).not.toContain(LEFT_OUT);
});

test('a chain that was given within the minute is not given again over an exit that has failed since', async () => {
  const follow = async () => {
    const answer = await fetch(`${master.url}/get/https/${HOST}/g`, { redirect: 'manual' });
    return answer.headers.get('location');
  };
  const first = await follow();
  expect(await follow()).toBe(first);
  await tried('d2', false);
  expect(await follow()).not.toBe(first);
});

test('where one depot alone says that a site leads takes no exit from others', async () => {
  const planned = await plan();
  await followUp(planned, `https://${STORAGE.host}/f`);
  await tried('d2', false, STORAGE);
  // The network's own downloads count for itself.
  expect(await exitOf()).toBe('d4');
  // Chains that are asked for anew are for anybody.
  expect(await followUp(planned, planned.url, [])).toEqual(['d1', 'd2']);
});

test('a tunnel’s plan is given again within the minute, whatever holds where downloads are led', async () => {
  await followUp(await plan(), `https://${STORAGE.host}/f`);
  await tried('d2', false, STORAGE);
  expect(await exitOf()).toBe('d4');
  const tunnel = { url: `https://${HOST}/`, kind: 'tunnel' };
  const first = await plan(tunnel);
  expect(first.chain.at(-1)).toBe('d2');
  expect((await plan(tunnel)).jobId).toBe(first.jobId);
});
