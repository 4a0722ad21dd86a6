import {
  decodeTicket,
  directorySchema,
  followUpAnswerSchema,
  parseRelayTarget,
  type TicketClaims,
} from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rawGet } from '../../testing/raw-request.ts';
import { startMaster, TEST_LINKS, type TestMaster } from '../../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../../testing/test-depot.ts';

const LINK = '/get/https/origin.example/f';
const south = { id: 'south', host: 'south.example', tls: false, depots: ['d1', 'd3', 'd4'] };

let master: TestMaster;
let depots: TestDepot[];

beforeEach(async () => {
  master = await startMaster({
    config: {
      links: [
        ...TEST_LINKS,
        { between: ['client', 'd4'], rttMs: 50, rateBps: 100e6 },
        { between: ['d4', 'd2'], rttMs: 180, rateBps: 1e9, windowBytes: 64e6 },
      ],
      entryGroups: [south],
    },
  });
  depots = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
});
afterEach(() => master.master.close());

/** All depots are heard; these say that they are in a group. */
async function hear(...members: string[]): Promise<void> {
  master.clock.advance(1);
  for (const depot of depots)
    await depot.heartbeat(master, members.includes(depot.id) ? { entryGroup: 'south' } : {});
}

async function redirected(link = LINK) {
  const { headers } = await rawGet(master.port, link);
  const location = headers.location ?? '';
  const relay = parseRelayTarget(location.slice(location.indexOf('/', 'https://'.length)));
  if (!relay.ok) throw relay.error;
  return { base: new URL(location).origin, ticket: relay.value.ticket, links: headers.link ?? '' };
}

function claimsOf(ticket: string): TicketClaims {
  const decoded = decodeTicket(ticket);
  if (!decoded.ok) throw decoded.error;
  return decoded.value.claims;
}

describe('a client whose entry depot is in a group', () => {
  test('is led to the name of the group, with a chain from each of its depots', async () => {
    await hear('d1', 'd3', 'd4');
    const { base, ticket, links } = await redirected();
    expect(base).toBe('http://south.example:443');
    const { group, chains, promises } = claimsOf(ticket);
    expect(group).toBe('south');
    expect(chains[0]).toEqual(['d1', 'd2']);
    expect(chains.map(([entry]) => entry)).toEqual(expect.arrayContaining(['d1', 'd3', 'd4']));
    expect(promises).toHaveLength(chains.length);
    expect(links, 'the name is no duplicate of itself').not.toContain('south.example');
  });

  test('is led to the depot itself until that says, too, that it is in the group', async () => {
    await hear();
    const { base, ticket } = await redirected();
    expect(base).toBe('http://127.0.0.1:7001');
    expect(claimsOf(ticket).group).toBeUndefined();
  });

  test('is led to the depot itself, again and again, as soon as that says that it is in the group no more', async () => {
    await hear('d1', 'd3', 'd4');
    expect((await redirected()).base).toBe('http://south.example:443');
    await depots[0]?.heartbeat(master);
    const { base, ticket } = await redirected();
    expect(base).toBe('http://127.0.0.1:7001');
    expect(claimsOf(ticket).group).toBeUndefined();
    expect((await redirected()).ticket).toBe(ticket);
  });

  test('is led to the depot itself where that has no TLS, and the group is said to have it', async () => {
    await master.master.close();
    master = await startMaster({ config: { links: TEST_LINKS, entryGroups: [{ ...south, tls: true }] } });
    depots = await registerDepots(master, 'd1', 'd2');
    await hear('d1');
    expect((await redirected()).base).toBe('http://127.0.0.1:7001');
  });

  test('is led to the depot itself where the operator has put it into no group, whatever it says', async () => {
    for (const depot of depots) await depot.heartbeat(master, { entryGroup: 'north' });
    expect((await redirected()).base).toBe('http://127.0.0.1:7001');
  });

  test('is led from depot to depot by their own names where that is asked for', async () => {
    await hear('d1', 'd3', 'd4');
    const link = '/get/~signalling=stepwise/http/origin.example/f';
    const { headers } = await rawGet(master.port, link);
    expect(headers.location).toContain('//127.0.0.1:7002/');
  });
});

test('each depot of a group has a chain in the ticket where nothing is typed in, by what depots have measured of client and origin', async () => {
  await master.master.close();
  master = await startMaster({ config: { links: [], entryGroups: [south] } });
  depots = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
  await hear('d1', 'd3', 'd4');
  const clean = { sentBytes: 50_000_000, retransmittedBytes: 0, goodputBps: 4e8 };
  const toClientMs = { d1: 5, d2: 155, d3: 15, d4: 25 };
  for (const depot of depots) {
    const rttMs = toClientMs[depot.id as keyof typeof toClientMs];
    const isExit = depot.id === 'd2';
    const seen = isExit ? { ...clean, retransmittedBytes: 500_000, goodputBps: 4e6 } : clean;
    await depot.heartbeat(master, {
      ...(isExit ? {} : { entryGroup: 'south' }),
      links: isExit ? [] : [{ to: 'd2', rttMs: 150, ...clean }],
      clients: [{ prefix: '127.0.0.0/24', rttMs, ...seen }],
      origins: isExit ? [{ host: 'origin.example', rttMs: 5, receivedBytes: 40_000_000, lostBytes: 0 }] : [],
    });
  }
  const { chains } = claimsOf((await redirected('/get/~size=500000000/https/origin.example/f')).ticket);
  expect(chains[0]).toEqual(['d1', 'd2']);
  expect(chains).toContainEqual(['d3', 'd2']);
  expect(chains).toContainEqual(['d4', 'd2']);
});

describe('the chains of the other depots of a group', () => {
  const groupIn = async (link?: string) => claimsOf((await redirected(link)).ticket);
  const entriesOf = ({ chains }: TicketClaims) => new Set(chains.map(([entry]) => entry));

  beforeEach(async () => {
    await master.master.close();
    const exits = ['d2', 'd5'].flatMap((exit) => [
      { between: [exit, 'origin'], rttMs: 5, rateBps: 1e9 },
      ...['d1', 'd3', 'd4'].map((entry) => ({
        between: [entry, exit],
        rttMs: exit === 'd2' ? 180 : 190,
        rateBps: 1e9,
        windowBytes: 64e6,
      })),
    ]);
    const entries = ['d1', 'd3', 'd4'].map((entry, index) => ({
      between: ['client', entry],
      rttMs: 5 + 5 * index,
      rateBps: 200e6,
    }));
    const direct = { between: ['client', 'origin'], rttMs: 200, lossRate: 0.001, rateBps: 200e6 };
    const links = [direct, ...entries, ...exits];
    master = await startMaster({ config: { links, entryGroups: [south] } });
    depots = await registerDepots(master, 'd1', 'd2', 'd3', 'd4', 'd5');
    await hear('d1', 'd3', 'd4');
  });

  test('pass no depot that the request avoids', async () => {
    expect((await groupIn()).chains).toContainEqual(['d3', 'd2']);
    const past = await groupIn('/get/~avoid=d2/https/origin.example/f');
    expect(entriesOf(past)).toEqual(new Set(['d1', 'd3', 'd4']));
    expect(past.chains.flat()).not.toContain('d2');
  });

  test('begin with no depot that the request avoids', async () => {
    const past = await groupIn('/get/~avoid=d4/https/origin.example/f');
    expect(entriesOf(past)).toEqual(new Set(['d1', 'd3']));
  });

  test('pass no depot of which clients of the network have said that it failed', async () => {
    const { jobId, chains } = await groupIn();
    expect(chains[0]).toEqual(['d1', 'd2']);
    const body = JSON.stringify({ jobId, verdict: 'failed', depot: 'd2' });
    expect((await fetch(`${master.url}/v1/feedback`, { method: 'POST', body })).status).toBe(200);
    const past = await groupIn();
    expect(entriesOf(past)).toEqual(new Set(['d1', 'd3', 'd4']));
    expect(past.chains.flat()).not.toContain('d2');
  });
});

test('a depot of the group gets a chain from itself for a ticket of the group, and no other depot does', async () => {
  await hear('d1');
  const { ticket } = await redirected();
  expect(claimsOf(ticket).chains.map(([entry]) => entry)).not.toContain('d3');
  const given = await depots[2]?.followUp(master, ticket, 'https://origin.example/f', []);
  expect(given?.status, given?.text).toBe(200);
  const next = claimsOf(followUpAnswerSchema.parse(JSON.parse(given?.text ?? '')).ticket);
  // It is for this depot alone.
  expect(next.group).toBeUndefined();
  expect(next.chains.every(([entry]) => entry === 'd3')).toBe(true);
  expect(next.chains[0]).toEqual(['d3', 'd2']);
  expect(next.jobId).toBe(claimsOf(ticket).jobId);
  expect((await depots[1]?.followUp(master, ticket, 'https://origin.example/f', []))?.code).toBe(
    'ticket-wrong-depot',
  );
});

test('a depot of the group that no chain begins at gets a ticket for itself alone to a mirror that no chain is known to', async () => {
  await master.master.close();
  const links = [{ between: ['d1', 'd2'], rttMs: 180, rateBps: 1e9 }];
  master = await startMaster({ config: { links, entryGroups: [south], planner: { allowVia: true } } });
  depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await hear('d1');
  const [, , member] = depots;
  await member?.heartbeat(master, { origins: [{ host: 'met-by-it-alone.example', rttMs: 4 }] });
  const { ticket } = await redirected('/get/~via=d2+d1/https/origin.example/f');
  expect(claimsOf(ticket)).toMatchObject({ group: 'south', chains: [['d1', 'd2']] });
  for (const mirror of ['met-by-nobody.example', 'met-by-it-alone.example']) {
    const given = await member?.followUp(master, ticket, `https://${mirror}/f`);
    expect(given?.status, given?.text).toBe(200);
    const next = claimsOf(followUpAnswerSchema.parse(JSON.parse(given?.text ?? '')).ticket);
    expect(next.group).toBeUndefined();
    expect(next.chains).toEqual([['d3']]);
    expect(next.promises).toEqual([{ rateBps: 0, worstRttMs: 0, worstLossRate: 0 }]);
  }
  // Where it asks for chains it is told that there is none.
  expect((await member?.followUp(master, ticket, 'https://met-by-nobody.example/f', []))?.code).toBe(
    'no-other-chain',
  );
});

test('a depot is told of the group that the operator has put it into, and others of none', async () => {
  const groups = await Promise.all(
    depots.map(async (depot) => directorySchema.parse(JSON.parse((await depot.heartbeat(master)).text))),
  );
  const told = { id: 'south', host: 'south.example', tls: false };
  expect(groups.map(({ entryGroup }) => entryGroup)).toEqual([told, undefined, told, told]);
});

test('nobody downloads from a group', async () => {
  const answer = await rawGet(master.port, '/get/https/south.example/f');
  expect(answer.headers['longhaul-error']).toBeDefined();
  expect(answer.status).toBeGreaterThanOrEqual(400);
});
