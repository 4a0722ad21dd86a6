import type { PlanAnswer } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { startBehindSockets } from './testing/start-behind-sockets.ts';

const NOW = 1_795_000_000_000;
const CLIENT = '198.51.100.7';
const NETWORK = '198.51.100.0/24';
const FAR = '203.0.113.7';
const STORAGE = 'storage.example';
const FILE = { sizeBytes: 100_000_000 };

/**
 * The site's own name is beside `va`, 118 ms from `sp`; the client, and storage that is near everybody, are
 * beside `sp`.
 */
async function start() {
  const world = await startBehindSockets({
    links: { 'sp va': 115, 'sp d3': 150, 'd3 va': 115 },
    ratesBps: { 'sp va': 1e8, 'd3 va': 1e8 },
  });
  const { hear, plan, followUp } = world;
  let files = 0;
  hear('sp', {
    clients: [{ prefix: NETWORK, rttMs: 8, goodputBps: 2.8e8, sentBytes: 4e7, retransmittedBytes: 0 }],
  });
  for (const [depot, rttMs] of [
    ['sp', 118],
    ['va', 2],
    ['d3', 118],
  ] as const)
    hear(depot, { origins: [{ host: 'origin.example', rttMs }] });
  /** A plan for another file of the site. */
  const planNext = (client = CLIENT) => {
    files += 1;
    return plan(client, FILE, `/${files}`);
  };
  return {
    ...world,
    planNext,
    /** Depots have had bytes from the storage. */
    meetStorage: () => {
      for (const depot of ['sp', 'va'])
        hear(depot, {
          origins: [{ host: STORAGE, rttMs: 5, goodputBps: 3e8, receivedBytes: 4e7, lostBytes: 0 }],
        });
    },
    /** A download of a plan that its origin leads elsewhere. */
    isLed: (planned: PlanAnswer, to = `https://${STORAGE}/signed?by=them`) =>
      followUp(planned.chain[0] ?? '', planned, to),
    /** One that came whole. */
    ends: ({ jobId, chain }: PlanAnswer) => {
      const download = { requests: 1, bodyBytes: 1e8, seconds: 9, isWhole: true, outcome: 'complete', chain };
      hear(chain[0] ?? '', { jobs: [{ jobId, seconds: 9, legs: [], download }] });
    },
  };
}

test('a site whose files lie elsewhere is planned by where they lie, once downloads have been led there', async ({
  onTestFinished,
}) => {
  const { planNext, isLed, meetStorage, close } = await start();
  onTestFinished(close);
  for (let time = 0; time < 2; time += 1) {
    const before = planNext();
    expect(before.chain).toEqual(['sp', 'va']);
    expect(before.reasons.join(' ')).not.toContain(STORAGE);
    isLed(before);
  }
  // Nobody has measured it: who leads there is all that is known.
  expect(planNext().chain).toEqual(['sp', 'va']);
  meetStorage();
  const after = planNext();
  expect(after.chain).not.toContain('va');
  expect(after.prediction.seconds).toBeLessThan(4);
  expect(after.reasons).toContain(
    `Downloads from origin.example came from ${STORAGE} of late: the plan goes by how far that is.`,
  );
  // What is asked for stays the same.
  expect(after.url).toContain('https://origin.example/');
  expect(after.masterUrl).toContain('/https/origin.example/');
});

test('a site that gives as many files itself is planned by itself again', async ({ onTestFinished }) => {
  const { planNext, isLed, meetStorage, ends, close } = await start();
  onTestFinished(close);
  const [led, own] = [planNext(), planNext()];
  meetStorage();
  isLed(led);
  ends(led);
  expect(planNext().chain).not.toContain('va');
  ends(own);
  expect(planNext().chain).toEqual(['sp', 'va']);
});

test('where a depot says that a site leads moves no plan of others, until another one says so', async ({
  onTestFinished,
}) => {
  const { hear, planNext, followUp, isLed, meetStorage, close } = await start();
  onTestFinished(close);
  const seen = { rttMs: 8, goodputBps: 2.8e8, sentBytes: 4e7, retransmittedBytes: 0 };
  hear('sp', { clients: [{ prefix: '203.0.113.0/24', ...seen }] });
  hear('d3', { clients: [{ prefix: '192.0.2.0/24', ...seen }] });
  meetStorage();
  const asked = planNext();
  isLed(asked);
  expect(planNext(FAR).chain).toEqual(['sp', 'va']);
  const elsewhere = planNext('192.0.2.7');
  expect(elsewhere.chain[0]).toBe('d3');
  const anew = () => followUp('sp', asked, asked.url, [])[0];
  expect(anew()).toEqual(['sp', 'va']);
  isLed(elsewhere);
  expect(planNext(FAR).chain).not.toContain('va');
  // Nor are chains that a depot asks for with a ticket that has none of its own.
  expect(anew()).toEqual(['sp']);
});

test('a place that a site leads to is probed where several depots say so, and the policy permits it', async ({
  onTestFinished,
}) => {
  const { hear, planNext, isLed, leads, close } = await start();
  onTestFinished(close);
  hear('d3', {
    clients: [{ prefix: '192.0.2.0/24', rttMs: 8, goodputBps: 2.8e8, sentBytes: 4e7, retransmittedBytes: 0 }],
  });
  const probed = () =>
    ['sp', 'va', 'd3', 'sp', 'va', 'd3', 'sp', 'va', 'd3'].flatMap((id) => hear(id).probe?.host ?? []);
  isLed(planNext());
  planNext();
  expect(probed()).not.toContain(STORAGE);
  isLed(planNext('192.0.2.7'));
  planNext();
  expect(probed()).toContain(STORAGE);
  // As a master with another policy may tell.
  for (const place of [
    { host: '10.0.0.1', port: 443 },
    { host: 'inside.example', port: 22 },
  ]) {
    for (const depot of ['sp', 'va', 'd3'])
      for (const part of [1, 2, 3, 4, 5])
        leads.note(
          {
            jobId: `${depot}${part}${place.port}`,
            network: `192.0.${part}.0/24`,
            host: 'origin.example',
            isAsked: false,
          },
          depot,
          place,
          NOW + 1,
        );
    expect(leads.of({ host: 'origin.example' })).toMatchObject({ ...place, isAgreed: true });
    planNext('192.0.7.7');
    expect(probed()).not.toContain(place.host);
  }
});
