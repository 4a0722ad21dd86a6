import { expect, test } from 'vitest';
import { ClientTable } from '../../measuring/client-table.ts';
import { OriginTable } from '../../measuring/origin-table.ts';
import { testConfig } from '../../testing/start-master.ts';
import { EndLinks } from '../links/end-links.ts';
import { LinkTable } from '../links/link-table.ts';
import { Planner } from './planner.ts';

const NOW = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const DEPOTS = ['d1', 'd2'].map((id) => ({ id, tls: false, state: 'up' as const }));
const NETWORKS = Array.from({ length: 40 }, (_, index) => `198.51.${index}`);
/** What the line of d1 carries, which all share. */
const LINE_BPS = 95e6;

/** A master that knows d1 beside many client networks and d2 beside an origin, with losses on the way between. */
function beforeCrowd() {
  const { planner: config } = testConfig({ links: [] });
  const { windowBytes } = config.assumptions;
  const links = new LinkTable([], windowBytes);
  const clients = new ClientTable(undefined, (depot) => links.mostSentBps(depot));
  const origins = new OriginTable();
  const planner = new Planner(config, links, new EndLinks({ links, clients, origins, windowBytes }));
  const serve = (count: number, nowMs: number) => {
    const goodputBps = LINE_BPS / count;
    const sent = { rttMs: 8, goodputBps, sentBytes: (5 * goodputBps) / 8, retransmittedBytes: 0 };
    for (const network of NETWORKS.slice(0, count))
      clients.report('d1', { prefix: `${network}.0/24`, ...sent }, nowMs);
  };
  const origin = { host: 'origin.example', prefix: '203.0.113.0/24', receivedBytes: 4e7 };
  for (let times = 0; times < 6; times += 1) {
    for (const [one, other] of [
      ['d1', 'd2'],
      ['d2', 'd1'],
    ] as const)
      links.report(
        one,
        { to: other, rttMs: 120, goodputBps: 3e8, sentBytes: 2e7, retransmittedBytes: 0 },
        NOW,
      );
    origins.report('d1', { ...origin, rttMs: 125, lostBytes: 2e4, limit: 'network' }, NOW);
    origins.report('d2', { ...origin, rttMs: 5, goodputBps: 3e8, lostBytes: 0, limit: 'origin' }, NOW);
    for (const network of NETWORKS) {
      const sent = { rttMs: 8, goodputBps: LINE_BPS, sentBytes: 4e7, retransmittedBytes: 0 };
      clients.report('d1', { prefix: `${network}.0/24`, ...sent }, NOW);
    }
  }
  const plan = (nowMs: number) => {
    const ends = { client: `${NETWORKS[0]}.7`, origin: origin.host };
    const planned = planner.plan({ sizeBytes: 1e8, originTls: false, ends }, DEPOTS, nowMs);
    if (!planned.ok) throw planned.error;
    return planned.value;
  };
  return { serve, plan };
}

test('a crowd that came one network after the other leaves nothing in the plans of those that were in it', () => {
  const { serve, plan } = beforeCrowd();
  const before = plan(NOW);
  expect(before.decision).toBe('chain');
  let nowMs = NOW;
  for (let count = 1; count <= NETWORKS.length; count += 1)
    for (let look = 0; look < 36; look += 1) {
      nowMs += 5000;
      serve(count, nowMs);
    }
  const after = plan(nowMs + HOUR_MS);
  expect(after.decision).toBe('chain');
  expect(after.prediction.seconds / before.prediction.seconds).toBeLessThan(1.3);
  expect(after.direct.seconds / before.direct.seconds).toBeLessThan(1.3);
});
