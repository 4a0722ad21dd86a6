import { directorySchema, type OriginReport, type PlanAnswer, planAnswerSchema } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startMaster, type TestMaster } from '../../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../../testing/test-depot.ts';

const URL = 'https://origin.example/disk.iso';
const SIZE = 500_000_000;
/** From the client on; the origin lies beside d3. */
const TO_ORIGIN = { d1: 125, d2: 65, d3: 4 } as const;

let master: TestMaster;
let depots: TestDepot[];
beforeEach(async () => {
  master = await startMaster({ config: { links: [] } });
  depots = await registerDepots(master, 'd1', 'd2', 'd3');
});
afterEach(() => master.master.close());

async function plan(body: object = {}): Promise<PlanAnswer> {
  const asked = JSON.stringify({ url: URL, sizeBytes: SIZE, ...body });
  const response = await fetch(`${master.url}/v1/plans`, { method: 'POST', body: asked });
  return planAnswerSchema.parse(await response.json());
}

/** What each depot is asked to probe when it is heard, with what it has to tell. */
async function hearAll(originsOf: (id: string) => OriginReport[] = () => []) {
  const probes: unknown[] = [];
  for (const depot of depots) {
    const origins = originsOf(depot.id);
    const { text } = await depot.heartbeat(master, origins.length > 0 ? { origins } : {});
    probes.push(directorySchema.parse(JSON.parse(text)).probe);
  }
  return probes;
}

test('an origin that nobody has met is probed for the first download, which goes direct, and the next one has a chain', async () => {
  expect(await hearAll()).toEqual([undefined, undefined, undefined]);
  expect(await plan()).toMatchObject({ decision: 'direct', decisionReason: 'links-unknown' });
  const probe = { host: 'origin.example', port: 443 };
  expect(await hearAll()).toEqual([probe, probe, probe]);
  await hearAll((id) => [{ host: 'origin.example', rttMs: TO_ORIGIN[id as keyof typeof TO_ORIGIN] }]);
  const next = await plan();
  expect(next).toMatchObject({ decision: 'chain', chain: ['d3'] });
  expect(next.prediction.seconds).toBeLessThan(next.direct.seconds * 1.02);
  expect(await hearAll()).toEqual([undefined, undefined, undefined]);
});

test('nothing is probed for a download that the policy does not allow', async () => {
  const asked = JSON.stringify({ url: 'https://other.example/disk.iso' });
  const { status } = await fetch(`${master.url}/v1/plans`, { method: 'POST', body: asked });
  expect(status).toBe(403);
  expect(await hearAll()).toEqual([undefined, undefined, undefined]);
});

test('a client whom depots have served is planned for by what they saw of its network', async () => {
  await plan();
  await hearAll((id) => [{ host: 'origin.example', rttMs: TO_ORIGIN[id as keyof typeof TO_ORIGIN] }]);
  const [d1, , d3] = depots;
  const lossy = { sentBytes: 50_000_000, retransmittedBytes: 100_000 };
  await d3?.heartbeat(master, { clients: [{ prefix: '127.0.0.0/24', rttMs: 130, ...lossy }] });
  const { direct } = await plan();
  expect(direct.legs[0]?.rttMs).toBeGreaterThan(120);
  expect(direct.legs[0]?.limit).toBe('loss');
  await d1?.heartbeat(master, { clients: [{ prefix: '127.0.0.0/24', rttMs: 3 }] });
  const { chain, prediction } = await plan({ url: `${URL}?other` });
  expect(chain.length).toBeGreaterThan(0);
  expect(prediction.seconds).toBeLessThan(direct.seconds / 2);
});

test('a client of whom little is known is asked to greet depots, the likeliest to be near first, until enough have met it', async () => {
  expect((await plan()).toMeet).toHaveLength(2);
  await hearAll((id) => [{ host: 'origin.example', rttMs: TO_ORIGIN[id as keyof typeof TO_ORIGIN] }]);
  const [d1, d2, d3] = depots;
  const [placeOf2, placeOf3] = ['http://127.0.0.1:7002', 'http://127.0.0.1:7003'];
  const links = [
    { to: 'd2', rttMs: 60, goodputBps: 3e8 },
    { to: 'd3', rttMs: 120, goodputBps: 3e8 },
  ];
  const met = (rttMs: number) => ({ clients: [{ prefix: '127.0.0.0/24', rttMs }] });
  await d1?.heartbeat(master, { links, ...met(20) });
  expect((await plan({ url: `${URL}?2` })).toMeet).toEqual([placeOf2, placeOf3]);
  await d2?.heartbeat(master, met(70));
  expect((await plan({ url: `${URL}?3` })).toMeet).toEqual([placeOf3]);
  await d3?.heartbeat(master, met(130));
  expect((await plan({ url: `${URL}?4` })).toMeet).toBeUndefined();
});

test('a client whom a near depot has met is led over that one, while it is up, although another may seem to lie better', async () => {
  await plan();
  await hearAll((id) => [{ host: 'origin.example', rttMs: TO_ORIGIN[id as keyof typeof TO_ORIGIN] }]);
  const [d1] = depots;
  const links = [
    { to: 'd2', rttMs: 60, goodputBps: 3e8 },
    { to: 'd3', rttMs: 120, goodputBps: 3e8 },
  ];
  const lossy = { sentBytes: 50_000_000, retransmittedBytes: 100_000, goodputBps: 4e7 };
  await d1?.heartbeat(master, { links, clients: [{ prefix: '127.0.0.0/24', rttMs: 20, ...lossy }] });
  const { chain, alternatives } = await plan();
  expect(chain[0]).toBe('d1');
  expect(alternatives.some(([entry]) => entry !== 'd1')).toBe(true);
  const without = await plan({ url: `${URL}?past-it`, avoid: ['d1'] });
  expect(without.chain).not.toContain('d1');
});

test('a plan says of its legs to client and origin what depots have measured of these, how old it is and how sure', async () => {
  await plan();
  await hearAll((id) => [{ host: 'origin.example', rttMs: TO_ORIGIN[id as keyof typeof TO_ORIGIN] }]);
  const [, , d3] = depots;
  const lossy = { sentBytes: 50_000_000, retransmittedBytes: 100_000, goodputBps: 4e7 };
  await d3?.heartbeat(master, { clients: [{ prefix: '127.0.0.0/24', rttMs: 130, ...lossy }] });
  await d3?.heartbeat(master, { clients: [{ prefix: '127.0.0.0/24', rttMs: 130, ...lossy }] });
  master.clock.advance(7);
  const { prediction, chain } = await plan({ url: `${URL}?other` });
  expect(chain).toEqual(['d3']);
  const [client, origin] = prediction.legs;
  expect(client).toMatchObject({
    from: 'd3',
    to: 'client',
    rttSource: 'measured',
    goodputSource: 'measured',
  });
  expect(client?.evidence).toMatchObject({
    by: ['d3'],
    rttMs: { source: 'measured', ageMs: 7000, samples: expect.closeTo(2, 1) as number },
    goodputBps: { source: 'measured', ageMs: 7000 },
    lossRate: { source: 'measured' },
  });
  expect(client?.evidence?.rttMs.value).toBeGreaterThan(120);
  // The origin was only connected to: nobody has typed in, or seen, what it gives.
  expect(origin).toMatchObject({ from: 'origin', to: 'd3', rttSource: 'measured', goodputSource: 'assumed' });
  expect(origin?.evidence).toMatchObject({
    by: ['d3'],
    rttMs: { source: 'measured', samples: expect.closeTo(1, 1) as number },
    goodputBps: { source: 'assumed', samples: 0 },
  });
});

test('a direct way that nobody has measured of late is looked at now and then, over a depot beside an end', async () => {
  const exploring = await startMaster({
    config: { links: [], planner: { explore: { share: 0.05 } } },
    random: () => 0.2,
  });
  const [d1] = await registerDepots(exploring, 'd1');
  const ask = async (url = URL) => {
    const asked = JSON.stringify({ url, sizeBytes: SIZE });
    const response = await fetch(`${exploring.url}/v1/plans`, { method: 'POST', body: asked });
    return planAnswerSchema.parse(await response.json());
  };
  await ask();
  const client = { prefix: '127.0.0.0/24', rttMs: 3, goodputBps: 9e7, sentBytes: 50_000_000 };
  const origin = { host: 'origin.example', rttMs: 16 };
  await d1?.heartbeat(exploring, { clients: [client], origins: [origin] });
  const look = { decision: 'chain', decisionReason: 'to-learn', chain: ['d1'], lanes: 1 };
  expect(await ask(`${URL}?1`)).toMatchObject(look);
  expect(await ask(`${URL}?2`), 'never two of one client in a row').toMatchObject({ decision: 'direct' });
  await exploring.master.close();
});
