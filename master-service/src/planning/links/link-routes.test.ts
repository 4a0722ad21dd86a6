import { type LegEvidence, planAnswerSchema } from '@longhaul/shared';
import { afterEach, expect, test } from 'vitest';
import { startMaster, TEST_LINKS, type TestMaster, testConfig } from '../../testing/start-master.ts';
import { registerDepots } from '../../testing/test-depot.ts';

interface Listed {
  readonly links: readonly (LegEvidence & { readonly from: string; readonly to: string })[];
  readonly next?: number;
}

let master: TestMaster;
afterEach(() => master.master.close());

async function measuredMaster(): Promise<void> {
  master = await startMaster();
  const [d1] = await registerDepots(master, 'd1', 'd2', 'd3');
  const measured = { to: 'd2', rttMs: 123, goodputBps: 5e8, sentBytes: 1e8, retransmittedBytes: 1e5 };
  await d1?.heartbeat(master, { links: [measured] });
  await d1?.heartbeat(master, { links: [measured] });
  master.clock.advance(7);
}

async function listed(query = ''): Promise<Listed> {
  return (await (await fetch(`${master.url}/v1/links${query}`)).json()) as Listed;
}

test('operators see of each direction of a link what is known, by whom, how old and how sure', async () => {
  await measuredMaster();
  const { links, next } = await listed();
  expect(next).toBeUndefined();
  expect(links).toHaveLength(2 * TEST_LINKS.length);
  const forward = links.find(({ from, to }) => from === 'd1' && to === 'd2');
  expect(forward).toMatchObject({
    by: ['d1'],
    rttMs: { source: 'measured', ageMs: 7000 },
    goodputBps: { source: 'measured', ageMs: 7000 },
    lossRate: { source: 'measured' },
  });
  expect(forward?.goodputBps.samples).toBeCloseTo(2, 1);
  expect(forward?.goodputBps.spread).toBeGreaterThan(0);
  const backward = links.find(({ from, to }) => from === 'd2' && to === 'd1');
  expect(backward?.by).toEqual(['d1']);
  expect(backward?.goodputBps.spread).toBeGreaterThan(forward?.goodputBps.spread ?? 0);
  expect((await listed('?of=d3')).links.every(({ from, to }) => from === 'd3' || to === 'd3')).toBe(true);
});

test('what was measured can be given to another master as its links, or to the lab', async () => {
  await measuredMaster();
  const exported = await listed('?as=links');
  const { links } = testConfig({ links: exported.links });
  expect(links).toHaveLength(TEST_LINKS.length);
  const between = links.find((link) => link.between.join() === 'd1,d2');
  expect(between).toMatchObject({ rttMs: 123, lossRate: 0.001 });
});

test('a plan says of each of its legs what is known, by whom, how old and how sure', async () => {
  await measuredMaster();
  const body = JSON.stringify({ url: 'https://origin.example/f', sizeBytes: 1e9 });
  const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body });
  const { prediction, direct } = planAnswerSchema.parse(await answer.json());
  expect(prediction.legs.map(({ evidence }) => evidence?.by)).toEqual([[], ['d1'], []]);
  expect(prediction.legs[1]?.evidence).toMatchObject({
    rttMs: { source: 'measured', ageMs: 7000, samples: expect.closeTo(2, 1) as number },
    goodputBps: { spread: expect.any(Number) as number },
  });
  expect(direct.legs[0]?.evidence).toMatchObject({ rttMs: { value: 200, source: 'configured' }, by: [] });
});

test('a question about links that means nothing is refused, and whoever is no operator is told nothing', async () => {
  await measuredMaster();
  for (const query of ['?of=UPPER', '?of=d1&of=d2', '?from=-1', '?as=yaml'])
    expect((await fetch(`${master.url}/v1/links${query}`)).status, query).toBe(400);
  await master.master.close();
  master = await startMaster({ config: { metricsNetworks: [] } });
  expect((await fetch(`${master.url}/v1/links`)).status).toBe(404);
});
