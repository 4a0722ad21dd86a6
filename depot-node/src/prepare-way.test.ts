import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  formatOriginRelayTarget,
  formatWayTarget,
  hashOriginUrl,
  parseOriginUrl,
  type TicketClaims,
} from '@longhaul/shared';
import { selfSigned, sha256 } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { listenAnywhere } from './testing/saboteur.ts';
import { closeServer } from './testing/test-master.ts';
import { testPlanes } from './testing/test-planes.ts';

const file = randomBytes(2_000_000);
const material = selfSigned();
const CLIENT = '127.0.0.0/24';

/** A file with ranges, as a server has it. */
const serveFile: RequestListener = (request, response) => {
  const headers = { ETag: '"1"', 'Accept-Ranges': 'bytes' };
  const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(request.headers.range ?? '') ?? [];
  if (first === undefined) {
    response.writeHead(200, { ...headers, 'Content-Length': file.length }).end(file);
    return;
  }
  const end = last ? Math.min(Number(last) + 1, file.length) : file.length;
  const part = file.subarray(Number(first), end);
  const range = `bytes ${first}-${end - 1}/${file.length}`;
  response.writeHead(206, { ...headers, 'Content-Range': range, 'Content-Length': part.length }).end(part);
};

const PLANES = await testPlanes();
const cases = PLANES.flatMap(([plane, splice]) =>
  (['http', 'https'] as const).flatMap((scheme) =>
    [['d1', 'd2', 'd3'], ['d1']].map((chain) => ({ scheme, plane, splice, chain, over: chain.join(' ') })),
  ),
);

describe.each(cases)('a way over $over to an origin on $scheme, by $plane,', ({ scheme, splice, chain }) => {
  let overlay: TestOverlay;
  let server: Server;
  let originUrl: string;
  let connections: Socket[];
  let heads: string[];
  /** What the origin does with a request that comes over its first connection. */
  let serveFirst: RequestListener;

  beforeEach(async () => {
    connections = [];
    heads = [];
    serveFirst = serveFile;
    const answer: RequestListener = (request, response) => {
      heads.push(`${request.method} ${request.url} ${request.headers.range ?? ''}`.trim());
      const isFirst = heads.length === 1;
      if (isFirst) serveFirst(request, response);
      else serveFile(request, response);
    };
    server = scheme === 'https' ? createHttpsServer(material, answer) : createHttpServer(answer);
    server.on('connection', (socket: Socket) => connections.push(socket));
    const port = await listenAnywhere(server);
    originUrl = `${scheme}://127.0.0.1:${port}/file`;
    const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
    overlay = await startTestOverlay(['d1', 'd2', 'd3'], () => {}, splice, {
      trusted: [material.cert],
      config: { addresses },
    });
  });
  afterEach(async () => {
    await overlay.close();
    await closeServer(server);
  });

  const originOf = (href: string) => {
    const parsed = parseOriginUrl(href);
    if (!parsed.ok) throw parsed.error;
    return parsed.value;
  };
  const ticketFor = (claims: Partial<TicketClaims> = {}) =>
    overlay.ticket(originUrl, { chains: [chain], ...claims });
  /** Tells d1 of a client, by a notice that may be for another depot. */
  const tell = async (ticket: string, { of = 'd1', href = originUrl } = {}) => {
    const timeMs = overlay.nowSeconds() * 1000;
    const notice = overlay.master.wayNotice(of, { ticket, origin: originOf(href), client: CLIENT, timeMs });
    return (await fetchRaw(overlay.depot('d1').url + formatWayTarget(notice))).status;
  };
  const fetchBy = (ticket: string, headers: Record<string, string> = {}) =>
    fetchRaw(overlay.depot('d1').url + formatOriginRelayTarget(ticket, originOf(originUrl)), { headers });
  /** What became of the ways that d1 has made, once it has ended. */
  const allEnds = async () => {
    await overlay.depot('d1').depot.close(0);
    return ends();
  };
  const ends = () =>
    overlay.depot('d1').events.flatMap((event) => (event.type === 'prepared-way' ? [event.end] : []));

  test('stands before its client comes, who has the file over it, and no request is sent before', async () => {
    const ticket = ticketFor();
    expect(await tell(ticket)).toBe(204);
    await expect.poll(() => connections.length).toBe(1);
    expect(heads).toEqual([]);
    const { status, body } = await fetchBy(ticket);
    expect(status).toBe(200);
    expect(body.equals(file)).toBe(true);
    expect(heads).toEqual(['GET /file']);
    expect(connections).toHaveLength(1);
    expect(ends()).toEqual(['used']);
    await expect
      .poll(() => overlay.depot('d1').events.find(({ type }) => type === 'transfer'))
      .toMatchObject({ chain, outcome: 'complete' });
  });

  test('over which an origin says again and again that it is still at work is no stale one: it is asked once', async () => {
    serveFirst = (_request, response) => {
      response.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(25));
    };
    const ticket = ticketFor();
    await tell(ticket);
    await expect.poll(() => connections.length).toBe(1);
    expect(await fetchBy(ticket)).toMatchObject({ status: 307 });
    expect(heads).toEqual(['GET /file']);
  });

  test('is used by a client who comes while it is being made', async () => {
    for (let time = 0; time < 5; time += 1) {
      const ticket = ticketFor();
      expect(await tell(ticket)).toBe(204);
      expect((await fetchBy(ticket)).body.equals(file)).toBe(true);
    }
    expect(connections).toHaveLength(5);
    expect(ends()).toEqual(['used', 'used', 'used', 'used', 'used']);
  });

  test('is not made to an origin that the depot may ask no more', async () => {
    const server = createHttpServer((_, response) => response.writeHead(200).write('a'));
    const opened: Socket[] = [];
    server.on('connection', (socket: Socket) => opened.push(socket));
    const port = await listenAnywhere(server);
    const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
    const small = await startTestOverlay(['d1', 'd2', 'd3'], () => {}, splice, {
      config: { addresses, limits: { perOrigin: 1 } },
    });
    const href = `http://127.0.0.1:${port}/endless`;
    const from = small.depot('d1').url;
    const held = await fetch(
      from + formatOriginRelayTarget(small.ticket(href, { chains: [chain] }), originOf(href)),
    );
    const timeMs = small.nowSeconds() * 1000;
    const ticket = small.ticket(href, { chains: [chain] });
    const notice = small.master.wayNotice('d1', { ticket, origin: originOf(href), client: CLIENT, timeMs });
    expect((await fetchRaw(from + formatWayTarget(notice))).status).toBe(204);
    await held.body?.cancel();
    await small.close();
    await closeServer(server);
    expect(opened).toHaveLength(1);
  });

  test('carries the first of the lanes where the plan has several', async () => {
    const ticket = ticketFor({ lanes: 4 });
    await tell(ticket);
    await expect.poll(() => connections.length).toBe(1);
    const { body } = await fetchBy(ticket);
    expect(body.equals(file)).toBe(true);
    expect(ends()).toEqual(['used']);
  });

  test('that its origin has ended is left for a new one', async () => {
    const ticket = ticketFor();
    await tell(ticket);
    await expect.poll(() => connections.length).toBe(1);
    const closed = connections[0] && once(connections[0], 'close');
    connections[0]?.destroy();
    await closed;
    const { status, body } = await fetchBy(ticket);
    expect(status).toBe(200);
    expect(body.equals(file)).toBe(true);
  });

  test.each<[string, RequestListener]>([
    ['hangs up', ({ socket }) => socket.destroy()],
    ['says that nothing was asked in time', (_, response) => response.writeHead(408).end()],
  ])('whose origin %s as the request comes costs nothing but a new one', async (_, how) => {
    serveFirst = how;
    const ticket = ticketFor();
    await tell(ticket);
    await expect.poll(() => connections.length).toBe(1);
    const { status, body } = await fetchBy(ticket);
    expect(status).toBe(200);
    expect(body.equals(file)).toBe(true);
    expect(heads).toEqual(['GET /file', 'GET /file']);
    await expect
      .poll(() => overlay.depot('d1').events.find(({ type }) => type === 'transfer'))
      .toMatchObject({ chain, outcome: 'complete' });
  });

  test('is no reason to ask again where the origin says so to a new connection', async () => {
    serveFirst = (_, response) => response.writeHead(408).end();
    expect((await fetchBy(ticketFor())).status).toBe(408);
    expect(heads).toHaveLength(1);
  });

  test('is made for the download alone that its ticket is for, as its entry depot, and before it has begun', async () => {
    const ticket = ticketFor();
    expect((await fetchBy(ticket)).body.equals(file)).toBe(true);
    const before = connections.length;
    const other = ticketFor({ urlHash: hashOriginUrl(originOf(`${originUrl}/other`), sha256) });
    const elsewhere = overlay.ticket('http://127.0.0.1:9/file', { chains: [chain] });
    const now = overlay.nowSeconds();
    expect(await tell(ticket), 'of a download that has begun').toBe(204);
    expect(await tell(elsewhere), 'for another origin').toBe(204);
    expect(await tell(ticketFor({ chains: [['d2', 'd3']] })), 'of another entry depot').toBe(204);
    expect(await tell(ticketFor({ kind: 'tunnel' })), 'of another kind').toBe(204);
    expect(await tell(ticketFor({ issuedAt: now - 900, lastStart: now - 800 })), 'late').toBe(204);
    expect(await tell(`${other.slice(0, -5)}AAAAA`), 'forged').toBe(204);
    expect(await tell(other), 'of any file of the origin').toBe(204);
    await expect.poll(() => connections.length).toBe(before + 1);
    expect(await allEnds(), 'of all these').toEqual(['unused']);
  });

  test('is made by nobody but a master, now, for this depot', async () => {
    const ticket = ticketFor();
    expect(await tell(ticket, { of: 'd2' }), 'for another depot').toBe(400);
    overlay.master.rotateKey();
    expect(await tell(ticketFor()), 'by a key that is not known').toBe(400);
    const { url } = overlay.depot('d1');
    const { status } = await fetchRaw(`${url}/.well-known/longhaul-way?ticket=${ticket}&server=127.0.0.1`);
    expect(status).toBe(400);
    expect(await allEnds()).toEqual([]);
    expect(connections).toEqual([]);
  });

  test('to an address that is not allowed is not made', async () => {
    const href = `${scheme}://127.0.0.1:9/file`;
    const ticket = overlay.ticket(href, { chains: [chain] });
    expect(await tell(ticket, { href })).toBe(204);
    await expect.poll(ends).toEqual(['failed']);
  });
});

test('a depot makes none where its operator wants none', async () => {
  let connections = 0;
  const origin = createHttpServer().on('connection', () => {
    connections += 1;
  });
  const port = await listenAnywhere(origin);
  const config = {
    addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] },
    limits: { preparedWays: 0 },
  };
  const overlay = await startTestOverlay(['d1'], () => {}, undefined, { config });
  const href = `http://127.0.0.1:${port}/file`;
  const parsed = parseOriginUrl(href);
  if (!parsed.ok) throw parsed.error;
  const ticket = overlay.ticket(href);
  const timeMs = overlay.nowSeconds() * 1000;
  const notice = overlay.master.wayNotice('d1', { ticket, origin: parsed.value, client: CLIENT, timeMs });
  expect((await fetchRaw(overlay.depot('d1').url + formatWayTarget(notice))).status).toBe(204);
  await overlay.close();
  expect(overlay.depot('d1').events.filter(({ type }) => type === 'prepared-way')).toEqual([]);
  expect(connections).toBe(0);
  await closeServer(origin);
});

test.each(PLANES)(
  'one that breaks when it has had its time, and no other route is left, costs nothing but a new one, by %s',
  async (_, splice) => {
    const origin = createHttpsServer(material, serveFile);
    const opened: Socket[] = [];
    // Its first connection says nothing.
    const door = createServer((socket) => {
      if (opened.push(socket) > 1) origin.emit('connection', socket);
    });
    const port = await listenAnywhere(door);
    const patienceSeconds = 2;
    const overlay = await startTestOverlay(['d1'], () => {}, splice, {
      trusted: [material.cert],
      config: {
        addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] },
        failover: { patienceSeconds },
      },
    });
    const { url, events } = overlay.depot('d1');
    const href = `https://127.0.0.1:${port}/file`;
    const parsed = parseOriginUrl(href);
    if (!parsed.ok) throw parsed.error;
    const ticket = overlay.ticket(href);
    const timeMs = overlay.nowSeconds() * 1000;
    const notice = overlay.master.wayNotice('d1', { ticket, origin: parsed.value, client: CLIENT, timeMs });
    await fetchRaw(url + formatWayTarget(notice));
    await expect.poll(() => opened.length).toBe(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const answer = fetchRaw(url + formatOriginRelayTarget(ticket, parsed.value));
      await expect
        .poll(() => events.find(({ type }) => type === 'prepared-way'))
        .toMatchObject({ end: 'used' });
      vi.advanceTimersByTime(patienceSeconds * 1000);
      // What is done then is done behind what has come in.
      await nextTurn();
      await nextTurn();
      opened[0]?.resetAndDestroy();
      const { status, body } = await answer;
      expect(status).toBe(200);
      expect(body.equals(file)).toBe(true);
      expect(opened).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
    await overlay.close();
    door.close();
  },
);
