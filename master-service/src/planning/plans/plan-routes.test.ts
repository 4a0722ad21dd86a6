import {
  decodeTicket,
  errorAnswerSchema,
  type PlanAnswer,
  parseRelayTarget,
  planAnswerSchema,
  type TicketClaims,
} from '@longhaul/shared';
import { afterEach, describe, expect, test } from 'vitest';
import { rawGet } from '../../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../../testing/test-depot.ts';
import { urlHashOf } from '../../tickets/ticket-issuer.ts';

let master: TestMaster;
let depots: TestDepot[];
afterEach(() => master.master.close());

async function start(config: object = {}): Promise<void> {
  master = await startMaster({ config });
  depots = await registerDepots(master, 'd1', 'd2', 'd3');
}

function post(body: unknown): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${master.url}/v1/plans`, { method: 'POST', body: text });
}

async function planOf(body: object): Promise<PlanAnswer> {
  const response = await post(body);
  const answer: unknown = await response.json();
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return planAnswerSchema.parse(answer);
}

describe('a plan', () => {
  test('tells what the redirect would do, and why', async () => {
    await start();
    const plan = await planOf({ url: 'https://origin.example/f.iso?x#y' });
    expect(plan).toMatchObject({
      url: 'https://origin.example/f.iso?x',
      decision: 'chain',
      masterUrl: `${master.url}/get/https/origin.example/f.iso?x`,
      chain: ['d1', 'd2'],
      alternatives: [['d3', 'd2']],
      sizeBytes: 100_000_000,
      sizeSource: 'assumed',
      fileSeen: false,
      decisionReason: 'chain-faster',
      prediction: { source: 'configured' },
    });
    expect(plan.reasons[0]).toBe('Size 100 MB is assumed: no depot has told this master of the file.');
    expect(plan.ticket).toBeUndefined();
    expect(Date.parse(plan.startBefore)).toBe(Math.floor(master.clock.nowMs / 1000) * 1000 + 600_000);
    // By the same clock, which need not be that of the machine.
    expect(Date.parse(plan.answeredAt ?? '')).toBe(master.clock.nowMs);
    const redirect = await rawGet(
      master.port,
      new URL(plan.masterUrl).pathname + new URL(plan.masterUrl).search,
    );
    expect(redirect.headers.location).toBe(plan.location);
    expect(redirect.headers['longhaul-job']).toBe(plan.jobId);
  });

  describe('for a file that a depot has seen', () => {
    const url = { scheme: 'https', host: 'origin.example', port: 443, path: '/f', query: null } as const;
    const report = (depot: TestDepot | undefined, sizeBytes: number) =>
      depot?.heartbeat(master, { sizes: [{ urlHash: urlHashOf(url), sizeBytes }] });
    /** A plan whose ticket lets d1 and d3 see the file; other options than later ones, so none of those is this one. */
    const planEarlier = () => planOf({ url: 'https://origin.example/f', sizeBytes: 6e8 });

    test('uses the size that its entry depot saw, unless the request says it', async () => {
      await start();
      await planEarlier();
      await report(depots[0], 3000);
      const seen = await planOf({ url: 'https://origin.example/f' });
      expect(seen).toMatchObject({ sizeBytes: 3000, sizeSource: 'reported', decision: 'direct' });
      const asked = await planOf({ url: 'https://origin.example/f', sizeBytes: 7e8 });
      expect(asked).toMatchObject({ sizeBytes: 7e8, sizeSource: 'option', decision: 'chain' });
    });

    test('says that no part of it can be asked for, where its entry depot saw that', async () => {
      await start();
      await planEarlier();
      await depots[0]?.heartbeat(master, {
        sizes: [{ urlHash: urlHashOf(url), sizeBytes: 6e8, isWholeOnly: true }],
      });
      const { reasons } = await planOf({ url: 'https://origin.example/f' });
      expect(reasons.join(' ')).toMatch(/gives no parts of it/);
    });

    test('uses the size that an alternative entry depot saw, too', async () => {
      await start();
      await planEarlier();
      await report(depots[2], 3000);
      expect(await planOf({ url: 'https://origin.example/f' })).toMatchObject({ sizeSource: 'reported' });
    });

    test('believes no depot that had no ticket to see it', async () => {
      await start();
      await report(depots[0], 3000);
      await planEarlier();
      await report(depots[1], 3000);
      expect(await planOf({ url: 'https://origin.example/f' })).toMatchObject({ sizeSource: 'assumed' });
    });

    test.each([0, -1, 0.5, 1e15, 9e15])('takes %d bytes for no size of a file', async (sizeBytes) => {
      await start();
      await planEarlier();
      expect(await report(depots[0], sizeBytes)).toMatchObject({ status: 400, code: 'bad-request' });
      expect(await planOf({ url: 'https://origin.example/f' })).toMatchObject({ sizeSource: 'assumed' });
    });
  });

  test('goes past a depot whose uplink is full, as soon as that has told so', async () => {
    await start();
    const ask = { url: 'https://origin.example/f', sizeBytes: 1e9 };
    expect((await planOf(ask)).chain).toEqual(['d1', 'd2']);
    const load = (sentBps: number) => ({ activeTransfers: 99, uplink: { sentBps, mostBps: 100e6 } });
    await depots[0]?.heartbeat(master, load(99e6));
    const other = { url: 'https://origin.example/g', sizeBytes: 1e9 };
    expect((await planOf(other)).chain).toEqual(['d3', 'd2']);
  });

  test('keeps clients of a network on the chain that they had to an origin while no other one is clearly faster', async () => {
    await start();
    const of = async (path: string) =>
      (await planOf({ url: `https://origin.example/${path}`, sizeBytes: 1e9 })).chain;
    const [d1, d2, d3] = depots;
    const measured = (goodputBps: number) => ({ links: [{ to: 'd2', rttMs: 190, goodputBps }] });
    const report = async (overD1: number, overD3: number) => {
      for (let times = 0; times < 20; times += 1) {
        master.clock.advance(1);
        await d1?.heartbeat(master, measured(overD1));
        await d2?.heartbeat(master);
        await d3?.heartbeat(master, measured(overD3));
      }
    };
    await report(60e6, 58e6);
    const first = await of('a');
    await report(58e6, 60e6);
    expect(await of('b')).toEqual(first);
    await report(10e6, 60e6);
    expect(await of('c')).toEqual(['d3', 'd2']);
  });

  test('for a tunnel names the entry depot as proxy and hands out the ticket', async () => {
    await start();
    const plan = await planOf({ url: 'https://origin.example/f', kind: 'tunnel' });
    expect(plan.location).toBe('http://127.0.0.1:7001');
    expect(plan.ticket).toMatch(/^ey/);
    // The life of a tunnel's ticket is a day, its time to start ten minutes.
    expect(Date.parse(plan.ticketEnds ?? '') - Date.parse(plan.startBefore)).toBe((86_400 - 600) * 1000);
    expect(plan.jobId).not.toBe((await planOf({ url: 'https://origin.example/f' })).jobId);
  });

  test('lets a download go on for a week', async () => {
    await start();
    const { location } = await planOf({ url: 'https://origin.example/f' });
    const { issuedAt, lastStart, endOfLife } = claimsOf(location);
    expect([lastStart - issuedAt, endOfLife - issuedAt]).toEqual([600, 604_800]);
  });

  test.each([
    [7_200, 600, 7_200],
    [604_800, 172_800, 172_800],
  ])(
    'for a tunnel is good for no longer than its operator says: of %i s, %i s to start',
    async (lifeSeconds, startSeconds, expected) => {
      await start({ tickets: { lifeSeconds, startSeconds } });
      const { ticketEnds = '', startBefore } = await planOf({
        url: 'https://origin.example/f',
        kind: 'tunnel',
      });
      expect((Date.parse(ticketEnds) - Date.parse(startBefore)) / 1000 + startSeconds).toBe(expected);
    },
  );

  test("for a tunnel has a budget of its own, whatever is known of a file at the site's address", async () => {
    await start({ tickets: { tunnelBudgetBytes: 7e9, tunnelBudgetConnections: 77 } });
    const site = { scheme: 'https', host: 'origin.example', port: 443, path: '/', query: null } as const;
    await planOf({ url: 'https://origin.example/', sizeBytes: 6e8 });
    await depots[0]?.heartbeat(master, { sizes: [{ urlHash: urlHashOf(site), sizeBytes: 3000 }] });
    const plan = await planOf({ url: 'https://origin.example/', kind: 'tunnel' });
    expect(plan).toMatchObject({ decision: 'chain', sizeSource: 'assumed', fileSeen: false });
    expect(claimsIn(plan.ticket)).toMatchObject({ budgetBytes: 7e9, budgetConnections: 77 });
    const file = await planOf({ url: 'https://origin.example/f', sizeBytes: 5e8 });
    expect(claimsOf(file.location)).toMatchObject({ budgetBytes: 64 * 2 ** 30, budgetConnections: 4096 });
  });

  test('is explained also to a client that was redirected before', async () => {
    await start();
    const link = '/get/~size=500000000/https/origin.example/f';
    const before = await rawGet(master.port, link);
    const plan = await planOf({ url: 'https://origin.example/f', sizeBytes: 5e8 });
    expect(plan.decision).toBe('chain');
    expect(plan.reasons.length).toBeGreaterThan(1);
    expect(plan.chain.length).toBeGreaterThan(0);
    expect(plan.location).toBe(before.headers.location);
    expect(plan.jobId).toBe(before.headers['longhaul-job']);
    expect(await planOf({ url: 'https://origin.example/f', sizeBytes: 5e8 })).toEqual(plan);
  });

  test('goes the way that the client chose, where the operator lets it', async () => {
    await start({ planner: { allowVia: true } });
    const plan = await planOf({ url: 'https://origin.example/f', via: ['d2', 'd3'], sizeBytes: 10 });
    expect(plan).toMatchObject({ decision: 'chain', chain: ['d3', 'd2'] });
    const redirect = await rawGet(master.port, '/get/~size=10,via=d2+d3/https/origin.example/f');
    expect(redirect.headers.location).toBe(plan.location);
  });

  test('has the lanes that the client chose, where the operator lets it, and one for a tunnel', async () => {
    await start({ planner: { allowVia: true } });
    const url = 'https://origin.example/f';
    expect((await planOf({ url, sizeBytes: 5e8 })).lanes).toBe(1);
    const plan = await planOf({ url, lanes: 3, sizeBytes: 5e8 });
    expect(plan).toMatchObject({ decision: 'chain', lanes: 3 });
    expect(plan.masterUrl).toContain('/get/~size=500000000,lanes=3/https/');
    const redirect = await rawGet(master.port, '/get/~size=500000000,lanes=3/https/origin.example/f');
    expect(redirect.headers.location).toBe(plan.location);
    const { lanes, promises, chains } = claimsOf(redirect.headers.location);
    expect(lanes).toBe(3);
    expect(promises).toHaveLength(chains.length);
    expect(promises[0]?.rateBps).toBe(Math.round(plan.prediction.goodputBps / 1000) * 1000);
    expect(await planOf({ url, lanes: 3, sizeBytes: 5e8, kind: 'tunnel' })).toMatchObject({ lanes: 1 });
  });

  test.each([
    ['that is no JSON', '{', 'bad-request'],
    ['with an unknown key', { url: 'https://origin.example/', zap: 1 }, 'bad-request'],
    ['without a URL', {}, 'bad-request'],
    ['with a negative size', { url: 'https://origin.example/', sizeBytes: -1 }, 'bad-request'],
    ['for a bad URL', { url: 'origin.example' }, 'bad-url'],
    ['for credentials', { url: 'https://a:b@origin.example/' }, 'url-has-credentials'],
    ['for a foreign origin', { url: 'https://evil.example/' }, 'origin-not-allowed'],
    ['for a private address', { url: 'http://2130706433/' }, 'target-not-public'],
    ['for chosen depots', { url: 'https://origin.example/', via: ['d1'] }, 'via-not-allowed'],
    ['for chosen lanes', { url: 'https://origin.example/', lanes: 2 }, 'via-not-allowed'],
    ['for more lanes than are polite', { url: 'https://origin.example/', lanes: 9 }, 'bad-request'],
    ['that is endless', `"${'x'.repeat(300_000)}"`, 'bad-request'],
  ])('%s is refused as JSON with a code', async (_, body, code) => {
    await start();
    const response = await post(body);
    expect(response.headers.get('longhaul-error')).toBe(code);
    expect(errorAnswerSchema.parse(await response.json()).error.code).toBe(code);
  });
});

function claimsOf(location = ''): TicketClaims {
  const relay = parseRelayTarget(location.slice(location.indexOf('/', 'http://'.length)));
  if (!relay.ok) throw relay.error;
  return claimsIn(relay.value.ticket);
}

function claimsIn(text = ''): TicketClaims {
  const ticket = decodeTicket(text);
  if (!ticket.ok) throw ticket.error;
  return ticket.value.claims;
}

describe('a public master', () => {
  const many = { origins: [], public: { plansPerMinute: 3, bytesPerHour: 1e9 } };
  const codeOf = async (path: string) => {
    const answer = await rawGet(master.port, `/get/${path}`);
    return answer.headers['longhaul-error'] ?? String(answer.status);
  };

  test('plans so often in a minute and not more, for each client, and leads on to the origin', async () => {
    await start(many);
    for (const name of ['a', 'b', 'c']) expect(await codeOf(`~size=9/https/any.example/${name}`)).toBe('307');
    expect(await codeOf('~size=9/https/any.example/a'), 'the same plan costs nothing').toBe('307');
    const past = await rawGet(master.port, '/get/~size=9/https/any.example/d');
    expect(past).toMatchObject({
      status: 307,
      headers: { 'longhaul-error': 'rate-limited', location: 'https://any.example/d' },
    });
    master.clock.advance(20);
    expect(await codeOf('~size=9/https/any.example/d')).toBe('307');
    expect(await codeOf('~size=9/https/any.example/e')).toBe('rate-limited');
  });

  test('gives neighbours tickets of their own for the same download, and shares of their own', async () => {
    await start(many);
    const jobAt = async (address: string, name: string) => {
      const answer = await rawGet(master.port, `/get/~size=9/https/any.example/${name}`, [], address);
      return answer.headers['longhaul-job'] ?? answer.headers['longhaul-error'];
    };
    const own = await jobAt('127.0.0.1', 'a');
    expect(await jobAt('127.0.0.1', 'a'), 'the same client').toBe(own);
    expect(await jobAt('127.0.0.2', 'a'), 'its neighbour').not.toBe(own);
    for (const name of ['b', 'c']) await jobAt('127.0.0.2', name);
    expect(await jobAt('127.0.0.2', 'd')).toBe('rate-limited');
    expect(await jobAt('127.0.0.1', 'd')).not.toBe('rate-limited');
  });

  test('charges one client for as many tickets as its machines need for a file', async () => {
    await start({ ...many, public: { plansPerMinute: 3, bytesPerHour: 7e9 } });
    const codes: string[] = [];
    for (let machine = 0; machine < 5; machine += 1)
      codes.push(await codeOf('~size=1000000000/https/any.example/f'));
    // Of the 4 GB of the first one three, of what is left of the hour two.
    expect(codes).toEqual(['307', '307', '307', '307', '307']);
    expect(await codeOf('~size=1000000000/https/any.example/f')).toBe('rate-limited');
  });

  test('plans so many bytes in an hour and not more', async () => {
    await start({ ...many, public: { plansPerMinute: 100, bytesPerHour: 1e9 } });
    expect(await codeOf('~size=900000000/https/any.example/a')).toBe('307');
    expect(await codeOf('~size=900000000/https/any.example/b')).toBe('rate-limited');
    expect(await codeOf('~size=9/https/any.example/c'), 'a direct download costs the overlay nothing').toBe(
      '307',
    );
    master.clock.advance(3600);
    for (const depot of depots) await depot.heartbeat(master);
    expect(await codeOf('~size=900000000/https/any.example/b')).toBe('307');
  });

  test('lets no more bytes through in an hour, however small a client says its files are', async () => {
    const bytesPerHour = 2_500_000_000;
    await start({ ...many, public: { plansPerMinute: 100, bytesPerHour } });
    const budgets: number[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      const answer = await rawGet(master.port, `/get/~size=50000000/https/any.example/${name}`);
      if (answer.headers['longhaul-error'] === undefined)
        budgets.push(claimsOf(answer.headers.location).budgetBytes);
      else expect(answer.headers['longhaul-error']).toBe('rate-limited');
    }
    expect(budgets).toEqual([2 ** 30, 2 ** 30, bytesPerHour - 2 ** 31]);
  });

  test('charges a client by the size that depots have seen, where it says a smaller one', async () => {
    await start({ ...many, public: { plansPerMinute: 100, bytesPerHour: 1e12 } });
    const budgetOf = async () => {
      const answer = await rawGet(master.port, '/get/~size=400000000/https/any.example/a');
      return claimsOf(answer.headers.location).budgetBytes;
    };
    expect(await budgetOf()).toBe(1.6e9);
    const url = { scheme: 'https', host: 'any.example', port: 443, path: '/a', query: null } as const;
    await depots[0]?.heartbeat(master, { sizes: [{ urlHash: urlHashOf(url), sizeBytes: 3e9 }] });
    master.clock.advance(61);
    for (const depot of depots) await depot.heartbeat(master);
    expect(await budgetOf()).toBe(1.2e10);
  });

  describe('whose client has used up its bytes', () => {
    const link = '/get/~size=900000000/https/any.example/a';
    const resume = () => rawGet(master.port, link, ['Range: bytes=1000-']);
    const pass = async (seconds: number) => {
      master.clock.advance(seconds);
      for (const depot of depots) await depot.heartbeat(master);
    };
    const startAndSpend = async () => {
      await start({
        ...many,
        public: { plansPerMinute: 100, bytesPerHour: 1e9 },
        tickets: { lifeSeconds: 900 },
      });
      return (await rawGet(master.port, link)).headers.location ?? '';
    };

    test('leads it back with the ticket that it has paid for, as long as that is good', async () => {
      const location = await startAndSpend();
      expect(claimsOf(location).budgetBytes).toBe(1e9);
      for (const seconds of [5, 100, 790]) {
        await pass(seconds);
        expect((await resume()).headers.location).toBe(location);
      }
      await pass(5);
      expect((await resume()).headers['longhaul-error'], 'its life is over').toBe('rate-limited');
    });

    test('gives it no second whole file by that ticket, and no other file', async () => {
      await startAndSpend();
      await pass(65);
      expect(await codeOf('~size=900000000/https/any.example/a')).toBe('rate-limited');
      const other = link.replace(/a$/, 'b');
      expect(await rawGet(master.port, other, ['Range: bytes=1000-'])).toMatchObject({
        status: 307,
        headers: { 'longhaul-error': 'rate-limited', location: 'https://any.example/b' },
      });
    });

    test('leads it to no depot that is down', async () => {
      await startAndSpend();
      await pass(5);
      await depots[0]?.heartbeat(master, { draining: true });
      expect((await resume()).headers['longhaul-error']).toBe('rate-limited');
    });
  });

  test('gives a tunnel a quarter of the hour, and downloads the rest', async () => {
    await start({ ...many, public: { plansPerMinute: 100, bytesPerHour: 1e9 } });
    const { ticket } = await planOf({ url: 'https://any.example/', kind: 'tunnel' });
    expect(claimsIn(ticket).budgetBytes).toBe(2.5e8);
    const answer = await rawGet(master.port, '/get/~size=600000000/https/any.example/a');
    expect(claimsOf(answer.headers.location).budgetBytes).toBe(7.5e8);
    const more = await post({ url: 'https://other.example/', kind: 'tunnel' });
    expect(more.headers.get('longhaul-error')).toBe('rate-limited');
  });

  test('gives a download of unknown size what is left of the hour', async () => {
    await start({ ...many, public: { plansPerMinute: 100, bytesPerHour: 1e9 } });
    const answer = await rawGet(master.port, '/get/https/any.example/a');
    expect(claimsOf(answer.headers.location).budgetBytes).toBe(1e9);
    expect(await codeOf('https/any.example/b')).toBe('rate-limited');
  });

  test('still sends nobody into private networks', async () => {
    await start(many);
    expect(await codeOf('http/192.168.0.1/')).toBe('target-not-public');
  });

  test('does not count what a listed origin serves', async () => {
    await start({ ...many, origins: ['origin.example'], public: { plansPerMinute: 1, bytesPerHour: 1 } });
    for (const name of ['a', 'b', 'c']) expect(await codeOf(`https/origin.example/${name}`)).toBe('307');
  });
});

describe('the legs of a running download', () => {
  const legsOf = (body: unknown) =>
    fetch(`${master.url}/v1/legs`, { method: 'POST', body: JSON.stringify(body) });

  test('are told to whoever holds its ticket; none while no depot tells of any', async () => {
    await start();
    const { jobId, location } = await planOf({ url: 'http://origin.example/file.iso' });
    const relayed = parseRelayTarget(location.slice(location.indexOf('/', 'http://'.length)));
    const response = await legsOf({ ticket: relayed.ok ? relayed.value.ticket : '' });
    expect(await response.json()).toEqual({ jobId, legs: [] });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('are told to nobody else', async () => {
    await start();
    for (const [body, status] of [
      [{ ticket: 'a.b.c' }, 400],
      [{ ticket: 7 }, 400],
      [{ jobId: 'job-1' }, 400],
    ] as const)
      expect((await legsOf(body)).status, JSON.stringify(body)).toBe(status);
  });
});
