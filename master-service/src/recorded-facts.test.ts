import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobReport } from '@longhaul/shared';
import { openStateFolder } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from './bus/in-process-bus.ts';
import { FactExchange } from './facts/fact-exchange.ts';
import { Facts } from './facts/facts.ts';
import { FactsFile } from './facts/facts-file.ts';
import { FEEDBACK_FACTS, FeedbackBook } from './feedback/feedback-book.ts';
import { ALIAS_FACTS, ClientAliases } from './measuring/client-aliases.ts';
import { CLIENT_FACTS, ClientTable } from './measuring/client-table.ts';
import { ORIGIN_FACTS, OriginTable } from './measuring/origin-table.ts';
import { CALIBRATION_FACTS, Calibrations } from './outcomes/calibrations.ts';
import { LED_FACTS, LedHosts } from './outcomes/led-hosts.ts';
import { JOB_FACTS, OutcomeBook } from './outcomes/outcome-book.ts';
import { RecentJobs } from './outcomes/recent-jobs.ts';
import { WAY_FACTS, WayBook } from './outcomes/way-book.ts';
import { LINK_FACTS, LinkTable } from './planning/links/link-table.ts';

const NOW = 1_795_000_000_000;
const NETWORK = '203.0.113.0/24';
const HOST = 'origin.example';
const MESSAGE = new URL('./testing/recorded-message.txt', import.meta.url);
const FILE = new URL('./testing/recorded-facts.jsonl', import.meta.url);

const kinds = [
  ...LINK_FACTS,
  ...CLIENT_FACTS,
  ...ALIAS_FACTS,
  ...ORIGIN_FACTS,
  ...JOB_FACTS,
  ...CALIBRATION_FACTS,
  ...WAY_FACTS,
  ...LED_FACTS,
  ...FEEDBACK_FACTS,
];

/** A master that has learned something of each kind that is about two things. */
function learned() {
  const meeting: InProcessMeeting = new Set();
  const bus = new InProcessBus('one', meeting);
  // Somebody must be there to be told.
  new InProcessBus('two', meeting).subscribe(() => {});
  const sent: string[] = [];
  bus.publish = (text) => sent.push(text);
  const facts = new Facts({ kinds, source: 'one', epoch: 7 });
  const exchange = new FactExchange({
    facts,
    bus,
    now: () => NOW,
    steadyMs: () => 5000,
    onRefused: () => {},
  });

  const links = new LinkTable([], 1e6, facts);
  const link = { to: 'd2', rttMs: 40, sentBytes: 1e8, retransmittedBytes: 1e5 };
  links.report('d1', { ...link, goodputBps: 4e8, totalBps: 6e8 }, NOW - 60_000);
  links.report('d1', { ...link, goodputBps: 2e8 }, NOW - 20_000);
  links.unreached.noteUnreached('d3', 'd4', NOW - 900);
  const client = { prefix: NETWORK, rttMs: 9, sentBytes: 1e8, retransmittedBytes: 1e5 };
  const clients = new ClientTable(facts);
  clients.report('d1', { ...client, goodputBps: 8e7 }, NOW - 30_000);
  clients.report('d1', { ...client, goodputBps: 9e7 }, NOW - 10_000);
  new ClientAliases(facts).note('d1', '2001:db8:1::/48', NETWORK, NOW - 5000);
  const origin = { host: HOST, receivedBytes: 1e8, lostBytes: 1e5, prefix: '198.51.100.0/24' };
  const origins = new OriginTable(facts);
  origins.report('d2', { ...origin, rttMs: 12, goodputBps: 3e8, takesRanges: true }, NOW - 50_000);
  origins.report('d2', { ...origin, rttMs: 13, takesAhead: false }, NOW - 4000);
  const report: JobReport = {
    jobId: 'job1',
    seconds: 2,
    legs: [
      { peer: 'd2', connections: 1, sentBytes: 0, retransmittedBytes: 0, receivedBytes: 1e8 },
      { peer: 'client', connections: 1, sentBytes: 1e8, retransmittedBytes: 0, receivedBytes: 0, rttMs: 9 },
    ],
  };
  const jobs = new RecentJobs();
  new OutcomeBook({ facts, jobs, emit: () => {}, steadyMs: () => 0 }).report('d1', [report], NOW - 3000);
  const pair = { network: NETWORK, host: HOST };
  new Calibrations(facts).note(pair, 1.5, NOW - 2500);
  const download = {
    jobId: 'job1',
    bodyBytes: 1e8,
    lanes: 2,
    seconds: 2,
    timesPlanned: 1.5,
    isSeconded: true,
  };
  new WayBook(facts).note(pair, { ...download, chain: ['d1', 'd2'] }, NOW - 2000);
  const leads = new LedHosts(() => [], facts);
  const to = { host: 'storage.example', port: 443 };
  leads.noteFollowUp('d1', 'job1', to, NOW - 1500);
  leads.note({ ...pair, jobId: 'job1', isAsked: false }, 'd1', to, NOW - 1500);
  const wishes = new FeedbackBook(facts);
  wishes.judgeDepot(NETWORK, 'd3', true, NOW - 1000);
  wishes.judgeDirect(NETWORK, HOST, true, NOW - 1000);
  wishes.noteWorked('192.0.2.0/24', ['d1'], HOST, NOW - 1000);
  return { facts, exchange, sent };
}

test('what depots and clients tell goes to other masters as the recorded message has it, byte for byte', async () => {
  const { exchange, sent } = learned();
  exchange.tell();
  expect(sent).toEqual([(await readFile(MESSAGE, 'utf8')).trimEnd()]);
});

test('what is kept of it stands in facts.jsonl as recorded, byte for byte, and is known again', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'longhaul-recorded-'));
  try {
    await new FactsFile(openStateFolder(dir)).save(learned().facts, NOW);
    expect(await readFile(join(dir, 'facts.jsonl'), 'utf8')).toBe(await readFile(FILE, 'utf8'));
    const again = new Facts({ kinds, source: 'one', epoch: 8 });
    const links = new LinkTable([], 1e6, again);
    expect(new FactsFile(openStateFolder(dir)).restore(again, NOW)).toEqual({
      facts: 9,
      outlived: 0,
      refused: 0,
      passedMs: 0,
    });
    expect(links.estimate('d2', 'd1', NOW)?.rttMs).toBe(40);
  } finally {
    await rm(dir, { recursive: true });
  }
});
