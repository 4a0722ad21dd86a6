import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { listenAnywhere } from './testing/saboteur.ts';
import { startWithholdingProxy, type WithholdingProxy } from './testing/withholding-proxy.ts';

const file = randomBytes(300_000);
const material = selfSigned();
/** More than one packet, and in pieces of the proxies many. */
const LONG_PATH = `/${'x'.repeat(3000)}`;
const TLS_HANDSHAKE = 22;

const isWholeHello = (bytes: Buffer) =>
  bytes.length > 5 && bytes[0] === TLS_HANDSHAKE && bytes.length >= 5 + bytes.readUInt16BE(3);
const isWholeHead = (bytes: Buffer) => bytes.includes('\r\n\r\n');

describe.each([
  ['https', isWholeHello],
  ['http', isWholeHead],
] as const)('what an origin over %s is told first', (scheme, isWhole) => {
  let overlay: TestOverlay;
  let proxies: WithholdingProxy[];
  let close: () => void;
  let originUrl: string;
  let toldFirst: Promise<void>;
  let connections: Socket[];

  beforeEach(async () => {
    connections = [];
    const told = Promise.withResolvers<void>();
    toldFirst = told.promise;
    const answer = (_: unknown, response: { end: (body: Buffer) => unknown }) => response.end(file);
    const server = scheme === 'https' ? createHttpsServer(material, answer) : createHttpServer(answer);
    const serverPort = await listenAnywhere(server);
    const front = createServer((outer) => {
      connections.push(outer);
      const inner = connect({ port: serverPort, host: '127.0.0.1' });
      let bytes = Buffer.alloc(0);
      outer.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
        if (isWhole(bytes)) told.resolve();
      });
      for (const socket of [outer, inner]) socket.on('error', () => {});
      outer.pipe(inner).pipe(outer);
    });
    const originPort = await listenAnywhere(front);
    originUrl = `${scheme}://127.0.0.1:${originPort}`;
    overlay = await startTestOverlay([], () => {}, undefined, { trusted: [material.cert] });
    const common = {
      addresses: { allow: [{ network: '127.0.0.0/8', ports: [originPort] }] },
      failover: { patienceSeconds: 60 },
    };
    proxies = [];
    for (const id of ['d3', 'd2']) {
      const proxy = await startWithholdingProxy();
      proxies.push(proxy);
      const listen = { host: '127.0.0.1', port: proxy.depotPort };
      await overlay.addDepot(id, { ...common, listen, public: { host: '127.0.0.1', port: proxy.port } });
    }
    await overlay.addDepot('d1', common);
    close = () => {
      server.close();
      front.close();
    };
  });
  afterEach(async () => {
    await overlay.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    close();
  });

  test('reaches it whole before any depot has answered, in however many packets it comes', async () => {
    const url = overlay.relayUrl(originUrl + LONG_PATH, { chains: [['d1', 'd2', 'd3']] }, 'd1');
    const answer = fetchRaw(url);
    await toldFirst;
    for (const proxy of proxies) proxy.release();
    const { status, body, broken } = await answer;
    expect({ status, broken }).toEqual({ status: 200, broken: undefined });
    expect(body.equals(file)).toBe(true);
    expect(connections).toHaveLength(1);
    const { events } = overlay.depot('d1');
    await expect
      .poll(() => events.find(({ type }) => type === 'transfer'))
      .toMatchObject({ chain: ['d1', 'd2', 'd3'], outcome: 'complete' });
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'an origin that speaks %s gets a new handshake over the next chain where the first cannot be built',
  async (maxVersion) => {
    const server = createHttpsServer({ ...material, maxVersion }, (_, response) => response.end(file));
    const port = await listenAnywhere(server);
    const overlay = await startTestOverlay([], () => {}, undefined, {
      trusted: [material.cert],
      config: { addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] } },
    });
    for (const id of ['d3', 'd2', 'd1']) await overlay.addDepot(id);
    const chains = [
      ['d1', 'gone', 'd3'],
      ['d1', 'd2', 'd3'],
    ];
    const { status, body } = await fetchRaw(
      overlay.relayUrl(`https://127.0.0.1:${port}/x`, { chains }, 'd1'),
    );
    expect(status).toBe(200);
    expect(body.equals(file)).toBe(true);
    await overlay.close();
    server.close();
    await once(server, 'close');
  },
);

test('a handshake that finds no way leaves nothing behind', async () => {
  const overlay = await startTestOverlay(['d1', 'd2'], () => {}, undefined, { trusted: [material.cert] });
  const silent = createServer((socket) => socket.destroy());
  const port = await listenAnywhere(silent);
  const refused = await fetchRaw(overlay.relayUrl(`https://127.0.0.1:${port}/x`, { chains: [['d1', 'd2']] }));
  // The port is none that the guard lets them use.
  expect(refused.status).toBe(403);
  expect(refused.headers['longhaul-error']).toBe('address-not-allowed');
  await overlay.close();
  silent.close();
  await once(silent, 'close');
});

test('a link that is good for one request brings its file, where the way that asked first stands late', async () => {
  const proxy = await startWithholdingProxy();
  const refused = Promise.withResolvers<void>();
  let asked = 0;
  const overlay = await startTestOverlay([], (request, response) => {
    if (request.url === '/once') asked += 1;
    if (asked === 1) response.end(file);
    else response.writeHead(410, { 'Content-Length': 4 }).end('gone', refused.resolve);
  });
  const listen = { host: '127.0.0.1', port: proxy.depotPort };
  await overlay.addDepot('d2', { listen, public: { host: '127.0.0.1', port: proxy.port } });
  await overlay.addDepot('d3');
  // Long enough for the other way to stand in, also on a busy machine.
  await overlay.addDepot('d1', { failover: { patienceSeconds: 3 } });
  const chains = [
    ['d1', 'd2'],
    ['d1', 'd3'],
  ];
  const answer = fetchRaw(overlay.relayUrl(`${overlay.originUrl}/once`, { chains }, 'd1'));
  await refused.promise;
  // What comes the same way later has come: so has the refusal.
  const other = overlay.relayUrl(`${overlay.originUrl}/other`, { chains: [['d1', 'd3']] }, 'd1');
  expect((await fetchRaw(other)).status).toBe(410);
  proxy.release();
  const { status, body } = await answer;
  expect({ status, asked }).toEqual({ status: 200, asked: 2 });
  expect(body.equals(file)).toBe(true);
  await overlay.close();
  await proxy.close();
});
