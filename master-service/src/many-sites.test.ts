import { directorySchema } from '@longhaul/shared';
import { describe, expect, test, vi } from 'vitest';
import type { TestMaster } from './testing/start-master.ts';
import { hasNatsServer } from './testing/start-nats-server.ts';
import { startSites, type TestSites } from './testing/start-sites.ts';
import { registerDepots, TestDepot } from './testing/test-depot.ts';
import { askOperatorsMaster, createToken, tokenState } from './testing/test-operator.ts';

/** Depots beat no heart here: none is to be lost while servers notice that they are cut off. */
const SELDOM = { depots: { heartbeatSeconds: 60 } };

/** For what takes some seconds of real networks, on a machine that is busy with other things. */
const PATIENCE = { timeout: 30_000, interval: 20 };

type OnTestFinished = (end: () => Promise<void>) => void;

async function start(count: number, onTestFinished: OnTestFinished): Promise<TestSites> {
  const sites = await startSites(count);
  onTestFinished(() => sites.close());
  return sites;
}

async function startAll(count: number, onTestFinished: OnTestFinished) {
  const sites = await start(count, onTestFinished);
  const masters: TestMaster[] = [];
  for (let site = 0; site < count; site += 1) masters.push(await sites.startMaster(site, SELDOM));
  for (const master of masters) await expect.poll(() => keysOf(master), PATIENCE).toHaveLength(count);
  return { sites, masters };
}

async function keysOf({ url }: TestMaster): Promise<string[]> {
  const answer = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return answer.keys.map(({ kid }) => kid).toSorted();
}

async function depotsOf({ url }: TestMaster): Promise<string[]> {
  const { depots } = (await (await fetch(`${url}/v1/status`)).json()) as {
    depots: { id: string; state: string }[];
  };
  return depots.filter(({ state }) => state === 'up').map(({ id }) => id);
}

async function register(master: TestMaster, id: string): Promise<TestDepot> {
  const [depot] = await registerDepots(master, id);
  return depot as TestDepot;
}

/** What a client gets that asks for a file. */
async function redirect({ url }: TestMaster): Promise<number> {
  const answer = await fetch(`${url}/get/https/origin.example/file.iso`, { redirect: 'manual' });
  return answer.status;
}

const refusedBy = ({ events }: TestMaster) =>
  events.flatMap((event) => (event.type === 'facts-refused' ? [event.code] : []));

describe.skipIf(!hasNatsServer)('masters of several sites', () => {
  vi.setConfig({ testTimeout: 90_000 });

  test('know the depots, keys and addresses of all', async ({ onTestFinished }) => {
    const { masters } = await startAll(3, onTestFinished);
    const [d1] = await Promise.all(masters.map((master, site) => register(master, `d${site}`)));
    for (const master of masters) {
      await expect.poll(() => depotsOf(master), PATIENCE).toEqual(['d0', 'd1', 'd2']);
    }
    const [first] = masters as [TestMaster];
    const { masterKeys, masterUrls } = directorySchema.parse(
      JSON.parse((await d1?.heartbeat(first))?.text ?? ''),
    );
    expect(masterUrls.toSorted()).toEqual(masters.map(({ url }) => url).toSorted());
    expect(masterKeys.map(({ keyId }) => keyId).toSorted()).toEqual(await keysOf(first));
    expect(masters.flatMap(refusedBy)).toEqual([]);
  });

  test('take a token of each other, and revoke a stolen key at all of them', async ({ onTestFinished }) => {
    const { masters } = await startAll(2, onTestFinished);
    const [one, two] = masters as [TestMaster, TestMaster];
    const token = await createToken(one);
    const depot = new TestDepot('d2');
    await expect.poll(async () => (await depot.join(two, token)).status, PATIENCE).toBe(200);
    await expect.poll(() => tokenState(one, token), PATIENCE).toBe('used');
    expect((await new TestDepot('d3').join(one, token)).code).toBe('join-token-used');
    expect((await depot.registerJoined(two)).status).toBe(200);
    for (const master of masters) await expect.poll(() => depotsOf(master), PATIENCE).toEqual(['d2']);
    await askOperatorsMaster(one, { do: 'revoke-depot', depot: 'd2' });
    expect(await depotsOf(one)).toEqual([]);
    await expect.poll(() => depotsOf(two), PATIENCE).toEqual([]);
    expect((await depot.registerJoined(two)).code).toBe('depot-key-revoked');
  });

  test('that are cut off plan on from what they knew, and know the newest soon after', async ({
    onTestFinished,
  }) => {
    const { sites, masters } = await startAll(3, onTestFinished);
    const [one, two, three] = masters as [TestMaster, TestMaster, TestMaster];
    await register(one, 'd1');
    await register(three, 'd3');
    for (const master of masters) await expect.poll(() => depotsOf(master), PATIENCE).toEqual(['d1', 'd3']);
    sites.cut(0, 1);
    sites.cut(0, 2);
    await register(one, 'd1a');
    await register(three, 'd3a');
    await expect.poll(() => depotsOf(two), PATIENCE).toEqual(['d1', 'd3', 'd3a']);
    // Their servers have noticed, so nothing is on its way any more.
    await expect
      .poll(() => sites.servers[0]?.log, PATIENCE)
      .toMatch(/Stale Connection|Router connection closed/);
    expect(await depotsOf(one)).toEqual(['d1', 'd1a', 'd3']);
    for (const master of masters) expect(await redirect(master)).toBe(307);
    sites.heal();
    for (const master of masters) {
      await expect.poll(() => depotsOf(master), PATIENCE).toEqual(['d1', 'd1a', 'd3', 'd3a']);
    }
  });

  test('of which two cannot hear each other learn of each other from a third', async ({ onTestFinished }) => {
    const { sites, masters } = await startAll(3, onTestFinished);
    const [one, , three] = masters as [TestMaster, TestMaster, TestMaster];
    sites.cut(0, 2);
    await expect
      .poll(() => sites.servers[0]?.log, PATIENCE)
      .toMatch(/Stale Connection|Router connection closed/);
    await register(three, 'd3');
    await expect.poll(() => depotsOf(one), PATIENCE).toEqual(['d3']);
    await register(one, 'd1');
    await expect.poll(() => depotsOf(three), PATIENCE).toEqual(['d1', 'd3']);
  });

  test('that join late know everything at once', async ({ onTestFinished }) => {
    const sites = await start(2, onTestFinished);
    const one = await sites.startMaster(0);
    const ids = Array.from({ length: 50 }, (_, index) => `d${index}`).toSorted();
    for (const id of ids) await register(one, id);
    const two = await sites.startMaster(1);
    await expect.poll(() => depotsOf(two), PATIENCE).toEqual(ids);
    expect(await keysOf(two)).toEqual([one.signingKey.keyId, two.signingKey.keyId].toSorted());
  });

  test('answer clients while their NATS server stands still, is gone, and comes back', async ({
    onTestFinished,
  }) => {
    const { sites, masters } = await startAll(2, onTestFinished);
    const [one, two] = masters as [TestMaster, TestMaster];
    const [server] = sites.servers;
    server?.freeze();
    onTestFinished(async () => server?.goOn());
    for (let times = 0; times < 20; times += 1) expect(await redirect(one)).toBe(307);
    await register(one, 'd1');
    server?.goOn();
    await expect.poll(() => depotsOf(two), PATIENCE).toEqual(['d1']);
    await server?.kill();
    await expect
      .poll(() => one.events.some((event) => event.type === 'bus-failed' && event.code === 'bus-unreachable'))
      .toBe(true);
    expect(await redirect(one)).toBe(307);
    await register(one, 'd2');
    await server?.start();
    await expect.poll(() => depotsOf(two), PATIENCE).toEqual(['d1', 'd2']);
  });
});
