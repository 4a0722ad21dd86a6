import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import {
  type Directory,
  decodeTicket,
  directorySchema,
  followUpAnswerSchema,
  hashAuthority,
  isEntryDepot,
  parseRelayTarget,
  planAnswerSchema,
  refuse,
  type TicketClaims,
} from '@longhaul/shared';
import { generateKeyPair, isAnswerProved } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import { rawGet } from '../testing/raw-request.ts';
import { startMaster, TEST_LINKS, type TestMaster } from '../testing/start-master.ts';
import { type DepotAnswer, registerDepots, TestDepot } from '../testing/test-depot.ts';
import { urlHashOf } from '../tickets/ticket-issuer.ts';

let master: TestMaster;
let store: MemoryDepotStore;

beforeEach(async () => {
  store = new MemoryDepotStore();
  master = await startMaster({ depotStore: store });
});
afterEach(() => master.master.close());

/** Whether an answer proves itself as an answer to its request. */
function isProved({ requestSignature, text, signature }: DepotAnswer): boolean {
  return isAnswerProved(master.secret, requestSignature, text, signature ?? undefined);
}

/** Reads an answer as a depot does: only when it proves itself. */
function directoryOf(answer: DepotAnswer): Directory {
  expect(answer.status, answer.text).toBe(200);
  expect(isProved(answer)).toBe(true);
  return directorySchema.parse(JSON.parse(answer.text));
}

describe('a depot', () => {
  test('that registers gets the directory, the keys and the masters, and can trust the answer', async () => {
    const [first] = await registerDepots(master, 'd1');
    const directory = directoryOf(await new TestDepot('d2').register(master, { host: '::1', tls: true }));
    expect(directory).toEqual({
      self: { state: 'up' },
      heartbeatSeconds: 5,
      depots: [
        {
          id: 'd1',
          publicKey: first?.publicKey,
          host: '127.0.0.1',
          port: 7001,
          tls: false,
          addresses: ['127.0.0.1'],
          state: 'up',
        },
        expect.objectContaining({ id: 'd2', host: '::1', port: 7002, tls: true, state: 'up' }),
      ],
      masterKeys: [{ keyId: master.signingKey.keyId, publicKey: master.signingKey.publicKey }],
      masterUrls: [master.url],
    });
  });

  test('without the enrolment secret is refused', async () => {
    const answer = await new TestDepot('d1').register(master, {}, { secret: 'guessed' });
    expect(answer).toMatchObject({ status: 403, code: 'enrolment-refused', signature: null });
    expect(await store.load()).toEqual([]);
  });

  test("proves itself as the protocol says: key and secret over method, path, time, sequence and the body's hash", async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { x = '' } = publicKey.export({ format: 'jwk' });
    const body = JSON.stringify({ id: 'd1', publicKey: x, host: '::1', port: 1, tls: false });
    const hash = createHash('sha256').update(body).digest('base64url');
    const timeMs = master.clock.nowMs;
    const time = { 'Longhaul-Time': String(timeMs), 'Longhaul-Sequence': 'some-epoch 7' };
    const text = `longhaul-request-1\nPOST\n/v1/depots\n${timeMs}\nsome-epoch 7\n${hash}`;
    const send = async (signed: string, enrolled: string, headers: Record<string, string> = time) => {
      const answer = await fetch(`${master.url}/v1/depots`, {
        method: 'POST',
        body,
        headers: {
          'Longhaul-Signature': sign(null, Buffer.from(signed), privateKey).toString('base64url'),
          'Longhaul-Enrolment': createHmac('sha256', master.secret).update(enrolled).digest('base64url'),
          ...headers,
        },
      });
      return [answer.status, answer.headers.get('longhaul-error')];
    };
    expect(await send(text, text, {}), 'without time and sequence').toEqual([403, 'enrolment-refused']);
    expect(await send(text, hash), 'a MAC of the body alone').toEqual([403, 'enrolment-refused']);
    expect(await send(text, text.replace(' 7', ' 8'))).toEqual([403, 'enrolment-refused']);
    expect(await send(hash, text), 'the body alone signed').toEqual([401, 'depot-signature-wrong']);
    expect(await send(text, text)).toEqual([200, null]);
  });

  test("cannot be moved by who has the enrolment secret and the depot's public key", async () => {
    const [victim] = await registerDepots(master, 'd1');
    const thief = new TestDepot('d1');
    const answer = await thief.register(master, { publicKey: victim?.publicKey, port: 6666 });
    expect(answer).toMatchObject({ status: 401, code: 'depot-signature-wrong', signature: null });
    expect(await store.load()).toMatchObject([{ id: 'd1', port: 7001 }]);
  });

  test.each([
    ['a minute old', -61_000],
    ['from a minute ahead', 61_000],
  ])('whose registration is %s is refused and told of its clock', async (_, offMs) => {
    const answer = await new TestDepot('d1').register(master, {}, { timeMs: master.clock.nowMs + offMs });
    expect(answer).toMatchObject({ status: 403, code: 'enrolment-refused', signature: null });
    expect(answer.text).toContain('clock');
    expect(await store.load()).toEqual([]);
  });

  test('is not moved back to an old address by a registration that comes again', async () => {
    const depot = new TestDepot('d1');
    const first = await depot.register(master, { port: 7001 });
    const second = await depot.register(master, { port: 7777 });
    for (const { again } of [first, second]) {
      expect(await again()).toMatchObject({ status: 409, code: 'request-replayed', signature: null });
    }
    expect(await store.load()).toMatchObject([{ id: 'd1', port: 7777 }]);
  });

  test("cannot take another depot's id", async () => {
    await registerDepots(master, 'd1');
    const answer = await new TestDepot('d1').register(master);
    expect(answer).toMatchObject({ status: 409, code: 'depot-key-mismatch' });
  });

  test.each([
    ['an id that stands for an end of every chain', { id: 'client' }],
    ['an id with other characters', { id: 'D_1' }],
    ['a key of another length', { publicKey: 'AAAA' }],
    ['a host that is none', { host: 'a/b' }],
    ['port 0', { port: 0 }],
  ])('with %s is refused', async (_, changes) => {
    expect(await new TestDepot('d1').register(master, changes)).toMatchObject({
      status: 400,
      code: 'bad-request',
    });
  });

  test('of a newer version is taken with what it tells more, which the master neither keeps nor tells others', async () => {
    const answer = await new TestDepot('d1').register(master, { newerField: 'told-by-a-newer-depot' });
    expect(directoryOf(answer).depots.map(({ id, state }) => [id, state])).toEqual([['d1', 'up']]);
    expect(answer.text).not.toMatch(/newerField|told-by-a-newer-depot/);
    const kept = await store.load();
    expect(kept).toMatchObject([{ id: 'd1', port: 7001 }]);
    expect(JSON.stringify(kept)).not.toMatch(/newerField|told-by-a-newer-depot/);
  });

  test.each([
    ['a private address', { host: '192.168.7.7' }],
    ['an address for metadata', { host: '169.254.169.254', port: 80 }],
    ['a mapped address', { host: '::ffff:10.0.0.1' }],
    ['a public address on a port of another service', { host: '8.8.8.8', port: 25 }],
  ])('cannot register %s', async (_, changes) => {
    const answer = await new TestDepot('d1').register(master, changes);
    expect(answer).toMatchObject({ status: 403, code: 'depot-address-not-allowed', signature: null });
    expect(await store.load()).toEqual([]);
  });

  test('may change its address and is known again after a restart of the master, once it is heard of', async () => {
    const depot = new TestDepot('d1');
    await depot.register(master);
    master.clock.advance(1);
    await depot.register(master, { port: 7777 });
    const other = await startMaster({ depotStore: store });
    const before = (await (await fetch(`${other.url}/v1/status`)).json()) as object;
    expect(before).toMatchObject({ depots: [{ id: 'd1', state: 'lost' }] });
    const directory = directorySchema.parse(JSON.parse((await depot.heartbeat(other)).text));
    expect(directory.depots).toMatchObject([{ id: 'd1', port: 7777, state: 'up' }]);
    await other.master.close();
  });
});

describe('the trial of a registration', () => {
  const trialOf = (answer: DepotAnswer): unknown => {
    expect([answer.status, isProved(answer)], answer.text).toEqual([200, true]);
    return JSON.parse(answer.text);
  };

  test('says that it would be taken, and changes nothing', async () => {
    const depot = new TestDepot('d1');
    expect(trialOf(await depot.tryRegistration(master))).toEqual({});
    expect(await stateOf('d1')).toBeUndefined();
    await depot.register(master);
    expect(trialOf(await depot.nextProcess().tryRegistration(master, { port: 7777 }))).toEqual({});
    expect(directoryOf(await depot.heartbeat(master)).depots).toMatchObject([{ port: 7001, state: 'up' }]);
  });

  test('says why it would be refused', async () => {
    await registerDepots(master, 'd1');
    const stranger = new TestDepot('d1');
    expect(trialOf(await stranger.tryRegistration(master))).toMatchObject({
      refusal: { code: 'depot-key-mismatch' },
    });
    expect(trialOf(await new TestDepot('d2').tryRegistration(master, { host: '10.0.0.1' }))).toMatchObject({
      refusal: { code: 'depot-address-not-allowed' },
    });
  });

  test('says why the address would not count', async () => {
    const own = await startMaster({ askDepot: async () => refuse('depot-unreachable', 'nobody there') });
    expect(trialOf(await new TestDepot('d1').tryRegistration(own))).toMatchObject({
      unproved: { code: 'depot-unreachable', message: expect.stringContaining('nobody there') as string },
    });
    await own.master.close();
  });

  test('needs the secret and the key, and is no registration for whoever records it', async () => {
    const depot = new TestDepot('d1');
    expect(await depot.tryRegistration(master, {}, { secret: 'guessed' })).toMatchObject({
      status: 403,
      code: 'enrolment-refused',
    });
    expect(await depot.tryRegistration(master, {}, { key: generateKeyPair() })).toMatchObject({
      status: 401,
      code: 'depot-signature-wrong',
    });
    expect(await depot.tryRegistration(master, {}, { path: '/v1/depots' })).toMatchObject({
      status: 403,
      code: 'enrolment-refused',
    });
  });
});

async function stateOf(id: string): Promise<string | undefined> {
  const status = (await (await fetch(`${master.url}/v1/status`)).json()) as {
    depots: { id: string; state: string }[];
  };
  return status.depots.find((depot) => depot.id === id)?.state;
}

describe('a heartbeat', () => {
  const empty = { activeTransfers: 0, draining: false, links: [], sizes: [] };

  test('keeps a depot up; three missed ones lose it', async () => {
    const [depot, watcher] = await registerDepots(master, 'd1', 'd2');
    const state = async () => directoryOf((await watcher?.heartbeat(master)) as DepotAnswer).depots[0]?.state;
    master.clock.advance(14);
    expect(await state()).toBe('up');
    directoryOf((await depot?.heartbeat(master)) as DepotAnswer);
    master.clock.advance(14);
    expect(await state()).toBe('up');
    master.clock.advance(2);
    expect(await state()).toBe('lost');
    await depot?.heartbeat(master, { draining: true });
    expect(await state(), 'draining').toBe('draining');
  });

  test('of a depot whose transfers stand still is answered with a test of a link, that of one whose transfers move is not', async () => {
    const [depot] = await registerDepots(master, 'd7', 'd8');
    const testAfter = async (isMoving: boolean) =>
      directoryOf((await depot?.heartbeat(master, { activeTransfers: 3, isMoving })) as DepotAnswer).test;
    expect(await testAfter(true)).toBeUndefined();
    expect(await testAfter(false)).toMatchObject({ from: 'd8' });
  });

  test('of an unknown depot asks it to register', async () => {
    expect(await new TestDepot('d1').heartbeat(master)).toMatchObject({ status: 404, code: 'depot-unknown' });
  });

  test.each<[string, object]>([
    ['signed by another key', { key: generateKeyPair() }],
    ['changed on its way', { body: JSON.stringify({ ...empty, draining: true }) }],
    ['sent to another address', { path: '/v1/depots/d1/heartbeat?x' }],
    ['older than a minute', { lateMs: 61_000 }],
    ['from a minute ahead', { lateMs: -61_000 }],
  ])('%s is refused', async (_, { lateMs = 0, ...faults }: { lateMs?: number }) => {
    const [depot] = await registerDepots(master, 'd1');
    const answer = await depot?.heartbeat(master, {}, { ...faults, timeMs: master.clock.nowMs - lateMs });
    expect(answer).toMatchObject({ status: 401, code: 'depot-signature-wrong', signature: null });
  });

  test('without time and signature is refused', async () => {
    await registerDepots(master, 'd1');
    const response = await fetch(`${master.url}/v1/depots/d1/heartbeat`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  });

  test('that comes again is refused and changes nothing', async () => {
    const [depot] = await registerDepots(master, 'd1');
    const recorded = (await depot?.heartbeat(master)) as DepotAnswer;
    await depot?.heartbeat(master, { draining: true });
    expect(await recorded.again()).toMatchObject({ status: 409, code: 'request-replayed', signature: null });
    expect(await stateOf('d1')).toBe('draining');
  });

  test('of a process that has ended is refused when it comes again', async () => {
    const [depot] = await registerDepots(master, 'd1');
    const recorded = (await depot?.heartbeat(master, { draining: true })) as DepotAnswer;
    await depot?.nextProcess().register(master);
    expect(await recorded.again()).toMatchObject({ status: 409, code: 'request-replayed' });
    expect(await stateOf('d1')).toBe('up');
  });

  test('that others have overtaken changes nothing', async () => {
    const [depot] = await registerDepots(master, 'd1');
    const late = depot?.nextSequence();
    await depot?.heartbeat(master, { draining: true });
    directoryOf((await depot?.heartbeat(master, {}, { sequence: late })) as DepotAnswer);
    expect(await stateOf('d1')).toBe('draining');
  });

  test('counts although the clock of its depot was set back', async () => {
    const [depot] = await registerDepots(master, 'd1');
    await depot?.heartbeat(master, {}, { timeMs: master.clock.nowMs + 30_000 });
    master.clock.advance(14);
    await depot?.heartbeat(master, { draining: true }, { timeMs: master.clock.nowMs - 30_000 });
    master.clock.advance(2);
    expect(await stateOf('d1')).toBe('draining');
  });

  test('whose body does not fit is refused as such, however well it is signed', async () => {
    const [depot] = await registerDepots(master, 'd1');
    const answer = await depot?.heartbeat(master, { links: [{ to: 'd2', rttMs: -1 }] });
    expect(answer).toMatchObject({ status: 400, code: 'bad-request', signature: null });
  });
});

describe('heartbeats', () => {
  const heard = (id: string) =>
    master.events.filter((event) => event.type === 'depot-heard' && event.depot === id).length;
  const statuses = async (depot: TestDepot | undefined, count: number, changes = {}) => {
    const answers: (number | undefined)[] = [];
    while (answers.length < count) answers.push((await depot?.heartbeat(master, changes))?.status);
    return answers.filter((status) => status === 200).length;
  };

  test('of a depot that sends a hundred at once are heard some of them, and those of another one as before', async () => {
    const [busy, other] = await registerDepots(master, 'd1', 'd2');
    expect(await statuses(busy, 100)).toBe(32);
    expect(heard('d1')).toBe(32);
    expect(await busy?.heartbeat(master)).toMatchObject({
      status: 503,
      code: 'master-busy',
      signature: null,
    });
    expect(await statuses(other, 10)).toBe(10);
    master.clock.advance(2.5);
    expect(await statuses(busy, 100)).toBe(4);
    expect(await stateOf('d1')).toBe('up');
  });

  test('count by their length: eight of them are heard at once that are as long as may be', async () => {
    const [depot] = await registerDepots(master, 'd1');
    const links = Array.from({ length: 1000 }, () => ({ to: 'd2', rttMs: 5, more: 'x'.repeat(225) }));
    expect(await statuses(depot, 12, { links })).toBe(8);
    master.clock.advance(2.5);
    expect(await statuses(depot, 2, { links })).toBe(1);
  });

  test('of a depot with much to tell out of turn are heard, every one', async () => {
    const [depot] = await registerDepots(master, 'd1');
    expect(await statuses(depot, 30)).toBe(30);
    for (let seconds = 0; seconds < 60; seconds += 5) {
      master.clock.advance(5);
      expect(await statuses(depot, 5)).toBe(5);
    }
    expect(heard('d1')).toBe(90);
  });

  test('that somebody else forges take no room of the depot', async () => {
    const [depot] = await registerDepots(master, 'd1');
    for (let time = 0; time < 100; time += 1) await depot?.heartbeat(master, {}, { key: generateKeyPair() });
    expect(await statuses(depot, 1)).toBe(1);
  });
});

describe('link reports', () => {
  test('count for links between registered depots only: not to ends, strangers or itself', async () => {
    const own = await startMaster({ config: { links: [], planner: { allowVia: true } } });
    const [depot] = await registerDepots(own, 'd1', 'd2');
    const to = ['client', 'origin', 'd1', 'd2', 'd3'];
    await depot?.heartbeat(own, { links: to.map((id) => ({ to: id, rttMs: 5, goodputBps: 1e9 })) });
    await registerDepots(own, 'd3');
    const body = JSON.stringify({ url: 'https://origin.example/f', via: ['d3', 'd1', 'd2'] });
    const response = await fetch(`${own.url}/v1/plans`, { method: 'POST', body });
    const { reasons } = planAnswerSchema.parse(await response.json());
    const unknown = reasons.flatMap((reason) => /link (\S+ - \S+):/.exec(reason)?.[1] ?? []);
    expect(unknown).toEqual(['client - d2', 'd1 - d3', 'd3 - origin']);
    await own.master.close();
  });
});

describe('a follow-up ticket', () => {
  async function ticketFor(link: string): Promise<string> {
    const answer = await rawGet(master.port, link);
    const location = new URL(answer.headers.location ?? '');
    const relay = parseRelayTarget(location.pathname + location.search);
    return relay.ok ? relay.value.ticket : '';
  }
  const claimsOf = (ticket: string) => {
    const decoded = decodeTicket(ticket);
    if (!decoded.ok) throw decoded.error;
    return decoded.value.claims;
  };
  /** What a ticket has for one entry depot. */
  const chainsFrom = ({ chains, promises }: TicketClaims, entry: string) => {
    const isOwn = (_: unknown, index: number) => chains[index]?.[0] === entry;
    return { chains: chains.filter(isOwn), promises: promises.filter(isOwn) };
  };
  const link = '/get/https/origin.example/f';

  test('is for the address that the depot names, to the byte', async () => {
    const [entry] = await registerDepots(master, 'd1', 'd2', 'd3');
    const path = '/a/../{b}';
    const first = await ticketFor(`/get/https/origin.example${path}`);
    await entry?.heartbeat(master);
    const answer = (await entry?.followUp(master, first, `https://origin.example${path}`)) as DepotAnswer;
    const { ticket } = followUpAnswerSchema.parse(JSON.parse(answer.text));
    expect(claimsOf(ticket).urlHash).toBe(claimsOf(first).urlHash);
  });

  test('keeps job, its own chains, budgets and times, and names the new target, listed or not', async () => {
    const [entry] = await registerDepots(master, 'd1', 'd2', 'd3');
    const first = await ticketFor(link);
    master.clock.advance(30);
    await entry?.heartbeat(master);
    const answer = (await entry?.followUp(master, first, 'https://mirror.example/g?h')) as DepotAnswer;
    expect(isProved(answer)).toBe(true);
    const { ticket } = followUpAnswerSchema.parse(JSON.parse(answer.text));
    const url = { scheme: 'https', host: 'mirror.example', port: 443, path: '/g', query: 'h' } as const;
    expect(claimsOf(ticket)).toEqual({
      ...claimsOf(first),
      ...chainsFrom(claimsOf(first), 'd1'),
      urlHash: urlHashOf(url),
      authorityHash: hashAuthority('mirror.example', 443, (text) =>
        createHash('sha256').update(text).digest(),
      ),
    });
  });

  test('lets its depot tell the size of the new target, for later plans', async () => {
    const [entry, other] = await registerDepots(master, 'd1', 'd2');
    const ticket = await ticketFor(link);
    await entry?.followUp(master, ticket, 'https://other.origin.example/g');
    const url = {
      scheme: 'https',
      host: 'other.origin.example',
      port: 443,
      path: '/g',
      query: null,
    } as const;
    const sizes = (sizeBytes: number) => ({ sizes: [{ urlHash: urlHashOf(url), sizeBytes }] });
    await entry?.heartbeat(master, sizes(3000));
    await other?.heartbeat(master, sizes(4000));
    const body = JSON.stringify({ url: 'https://other.origin.example/g' });
    const plan: unknown = await (await fetch(`${master.url}/v1/plans`, { method: 'POST', body })).json();
    expect(plan).toMatchObject({ sizeBytes: 3000, sizeSource: 'reported' });
  });

  test('serves at no other entry depot', async () => {
    const [entry, , other] = await registerDepots(master, 'd1', 'd2', 'd3');
    const first = await ticketFor(link);
    expect(isEntryDepot(claimsOf(first), 'd3')).toBe(true);
    const answer = (await entry?.followUp(master, first, 'https://mirror.example/g')) as DepotAnswer;
    const { ticket } = followUpAnswerSchema.parse(JSON.parse(answer.text));
    expect(isEntryDepot(claimsOf(ticket), 'd3')).toBe(false);
    expect((await other?.followUp(master, ticket, 'https://mirror.example/g'))?.code).toBe(
      'ticket-wrong-depot',
    );
  });

  test('is given for so many hosts of one job as mirrors have, and not for a scan', async () => {
    const [entry] = await registerDepots(master, 'd1', 'd2');
    const first = await ticketFor(link);
    const codes: unknown[] = [];
    for (let host = 0; host < 20; host += 1)
      for (const scheme of ['http', 'https'])
        codes.push((await entry?.followUp(master, first, `${scheme}://m${host}.example/`))?.code);
    expect(codes.slice(0, 32)).toEqual(Array(32).fill(null));
    expect(codes.slice(32)).toEqual(Array(8).fill('redirect-limit'));
    expect((await entry?.followUp(master, first, 'https://m0.example/other'))?.status).toBe(200);
  });

  test('is given once for each request', async () => {
    const [entry] = await registerDepots(master, 'd1', 'd2');
    const given = await entry?.followUp(master, await ticketFor(link), 'https://mirror.example/');
    expect(given?.status).toBe(200);
    expect(await given?.again()).toMatchObject({ status: 409, code: 'request-replayed' });
  });

  test('is given to entry depots only', async () => {
    const [, exit, other] = await registerDepots(master, 'd1', 'd2', 'd3');
    const ticket = await ticketFor(link);
    expect((await exit?.followUp(master, ticket, 'https://mirror.example/'))?.code).toBe(
      'ticket-wrong-depot',
    );
    expect((await other?.followUp(master, ticket, 'https://mirror.example/'))?.status).toBe(200);
  });

  describe('past depots that failed', () => {
    /** Beside the usual way over d1 and d2, one over d4, which is slower. */
    const links = [
      ...TEST_LINKS,
      { between: ['d1', 'd4'], rttMs: 150, rateBps: 50e6, windowBytes: 64e6 },
      { between: ['d4', 'origin'], rttMs: 60, rateBps: 50e6 },
    ];
    const url = 'https://origin.example/f';
    const ticketOf = (answer: DepotAnswer | undefined) => {
      expect(answer?.status, answer?.text).toBe(200);
      return followUpAnswerSchema.parse(JSON.parse(answer?.text ?? '')).ticket;
    };

    beforeEach(async () => {
      await master.master.close();
      master = await startMaster({ depotStore: store, config: { links } });
    });

    test('is for the same job, budgets and times, over other chains from the asking depot on', async () => {
      const [entry, exit] = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
      const first = await ticketFor(link);
      expect(claimsOf(first).chains).toEqual([
        ['d1', 'd2'],
        ['d1', 'd4'],
        ['d3', 'd2'],
      ]);
      master.clock.advance(10);
      const ticket = ticketOf(await entry?.followUp(master, first, url, ['d2']));
      expect(claimsOf(ticket)).toEqual({
        ...claimsOf(first),
        chains: [['d1', 'd4']],
        promises: [{ rateBps: 50_000_000, worstRttMs: 150, worstLossRate: 0 }],
      });
      expect((await exit?.followUp(master, first, url, ['d1']))?.code, 'not an entry depot').toBe(
        'ticket-wrong-depot',
      );
    });

    test('may be asked for with the ticket that followed, also when no depot failed yet', async () => {
      const [entry] = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
      const first = await ticketFor(link);
      const second = ticketOf(await entry?.followUp(master, first, url, ['d2']));
      const third = ticketOf(await entry?.followUp(master, second, url, []));
      expect(claimsOf(third).chains).toEqual([
        ['d1', 'd2'],
        ['d1', 'd4'],
      ]);
      expect(claimsOf(third).jobId).toBe(claimsOf(first).jobId);
    });

    test('serves the other entry depot of a ticket with chains of its own', async () => {
      const [, , other] = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
      const ticket = ticketOf(await other?.followUp(master, await ticketFor(link), url, ['d4']));
      expect(claimsOf(ticket).chains).toEqual([['d3', 'd2']]);
    });

    test('is refused where every other chain needs them, and for lists that do not fit', async () => {
      const [entry] = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
      const ticket = await ticketFor(link);
      const refused = await entry?.followUp(master, ticket, url, ['d2', 'd4']);
      expect(refused).toMatchObject({ status: 503, code: 'no-other-chain', signature: null });
      expect((await entry?.followUp(master, ticket, url, ['d1']))?.code).toBe('bad-request');
      expect((await entry?.followUp(master, ticket, url, ['D/1']))?.code).toBe('bad-request');
      const many = Array.from({ length: 17 }, (_, index) => `x${index}`);
      expect((await entry?.followUp(master, ticket, url, many))?.code).toBe('bad-request');
    });
  });

  describe('of a depot that asks for more than any can need', () => {
    const url = 'https://origin.example/f';
    const other = 'https://mirror.example/f';
    /** What comes of so many: how many of each status and code. */
    const outcomes = async (depot: TestDepot, ticket: string, count: number, asked: [string, string[]?]) => {
      const told = new Map<string, number>();
      for (let time = 0; time < count; time += 1) {
        const { status, code } = await depot.followUp(master, ticket, ...asked);
        const outcome = status === 200 ? 'given' : `${status} ${code}`;
        told.set(outcome, (told.get(outcome) ?? 0) + 1);
      }
      return Object.fromEntries(told);
    };

    test('is planned anew three hundred times at once, and four times a second; others have theirs', async () => {
      const [entry, , another] = (await registerDepots(master, 'd1', 'd2', 'd3')) as [
        TestDepot,
        TestDepot,
        TestDepot,
      ];
      const ticket = await ticketFor(link);
      expect(await outcomes(entry, ticket, 320, [url, ['d3']])).toEqual({
        given: 300,
        '503 master-busy': 20,
      });
      expect(await entry.followUp(master, ticket, other)).toMatchObject({
        code: 'master-busy',
        signature: null,
      });
      expect(await outcomes(another, ticket, 10, [url, ['d1']])).toEqual({ given: 10 });
      expect((await entry.heartbeat(master)).status).toBe(200);
      master.clock.advance(1);
      expect(await outcomes(entry, ticket, 10, [url, ['d3']])).toEqual({ given: 4, '503 master-busy': 6 });
      const metrics = await (await fetch(`${master.url}/metrics`)).text();
      expect(metrics).toContain('longhaul_master_refusals_total{code="master-busy"} 27');
    });

    test('is given sixteen times as often over chains that its ticket has', async () => {
      const [entry] = (await registerDepots(master, 'd1', 'd2', 'd3')) as [TestDepot];
      const ticket = await ticketFor(link);
      await outcomes(entry, ticket, 300, [url, ['d3']]);
      master.clock.advance(1);
      expect(await outcomes(entry, ticket, 70, [other])).toEqual({ given: 64, '503 master-busy': 6 });
    });
  });

  test.each([
    ['a private address', 'http://10.0.0.1/', 'target-not-public'],
    ['a private address in an odd spelling', 'http://0x7f.1/', 'target-not-public'],
    ['a port that is not allowed', 'https://mirror.example:25/', 'port-not-allowed'],
    ['another scheme', 'ftp://mirror.example/', 'unknown-scheme'],
    ['a login', 'https://a:b@mirror.example/', 'url-has-credentials'],
    ['the overlay itself', 'http://127.0.0.1:7002/', 'address-not-allowed'],
  ])('is refused for %s', async (_, url, code) => {
    const [entry] = await registerDepots(master, 'd1', 'd2');
    const ticket = await ticketFor(link);
    expect((await entry?.followUp(master, ticket, url))?.code).toBe(code);
  });

  test('is refused for tickets that are forged, foreign or over', async () => {
    const [entry] = await registerDepots(master, 'd1', 'd2');
    const ticket = await ticketFor(link);
    const codeFor = async (text: string) =>
      (await entry?.followUp(master, text, 'https://mirror.example/'))?.code;
    expect(await codeFor('x')).toBe('ticket-malformed');
    const [header = '', payload = ''] = ticket.split('.');
    expect(await codeFor(`${header}.${payload}.${'A'.repeat(86)}`)).toBe('ticket-signature-wrong');
    const foreign = await startMaster({ config: { links: TEST_LINKS } });
    await registerDepots(foreign, 'd1', 'd2');
    const answer = await rawGet(foreign.port, link);
    expect(await codeFor(/\?([^&]*)/.exec(answer.headers.location ?? '')?.[1] ?? '')).toBe(
      'ticket-key-unknown',
    );
    await foreign.master.close();
    master.clock.advance(604_800 + 61);
    expect(await codeFor(ticket)).toBe('ticket-expired');
  });
});
