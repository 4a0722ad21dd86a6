import { directorySchema, type OriginReport, type PlanAnswer, planAnswerSchema } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';

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
