import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

/** Client networks on loopback; depots call from 127.0.0.1. */
const [HERE, THERE] = ['127.0.1.7', '127.0.2.7'] as const;
const HALF = 'GET /half HTTP/1.1\r\nHost: x';

let overlay: TestOverlay | undefined;
const opened: Socket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await overlay?.close();
  overlay = undefined;
});

async function start(limits: object, init: object = {}): Promise<TestOverlay> {
  overlay = await startTestOverlay(['d1', 'd2'], (_, response) => response.end('hello'), undefined, {
    config: { limits },
    ...init,
  });
  return overlay;
}

function open(depot: string, localAddress: string, sent = ''): Socket {
  const { hostname, port } = new URL(overlay?.depot(depot).url ?? '');
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  socket.on('error', () => {});
  opened.push(socket);
  if (sent !== '') socket.write(sent);
  return socket;
}

const closed = (socket: Socket) =>
  socket.destroyed ? Promise.resolve() : new Promise<void>((resolve) => socket.once('close', resolve));
const refusals = (depot: string) =>
  overlay?.depot(depot).events.filter(({ type }) => type === 'connection-refused') ?? [];

test('half heads of one network keep no other network out, and are counted', async () => {
  const { relayUrl, originUrl, depot } = await start({ connections: 50, waitingPerNetwork: 10 });
  const halves = Array.from({ length: 40 }, () => open('d1', HERE, HALF));
  await Promise.all(halves.slice(10).map(closed));
  const url = relayUrl(`${originUrl}/file`);
  expect((await fetchRaw(url, { localAddress: THERE })).body.toString()).toBe('hello');
  expect(refusals('d1')).toHaveLength(30);
  expect(refusals('d1')[0]).toMatchObject({ bound: 'network-waiting', network: '127.0.1.0/24' });
  const metrics = (await fetchRaw(`${depot('d1').url}/metrics`)).body.toString();
  expect(metrics).toContain('longhaul_depot_connections_refused_total{bound="network-waiting"} 30');
});

test('a depot full of clients still takes what another depot sends on', async () => {
  const { relayUrl, originUrl } = await start({ connections: 20, spareLegs: 0 });
  const clients = Array.from({ length: 30 }, (_, index) => open('d2', `127.0.${10 + index}.7`, HALF));
  await Promise.all(clients.slice(16).map(closed));
  expect(refusals('d2').at(-1)).toMatchObject({ bound: 'all' });
  const answer = await fetchRaw(relayUrl(`${originUrl}/file`));
  expect(answer.body.toString()).toBe('hello');
  const chains = overlay?.depot('d1').events.filter(({ type }) => type === 'chain-failed');
  expect(chains).toEqual([]);
});

test('a crowd that begins at once keeps nobody else waiting until all of it has begun', async () => {
  const { depot } = await start({});
  const crowd = Array.from({ length: 120 }, () => open('d1', HERE));
  const [asker, other] = [open('d1', HERE), open('d1', THERE)];
  await Promise.all([...crowd, asker, other].map((socket) => once(socket, 'connect')));
  const begun = () => depot('d1').events.filter(({ type }) => type === 'refusal').length;
  // All of it is read in one turn of the event loop.
  for (const socket of [...crowd, other]) socket.write('GET /x?forged HTTP/1.1\r\n\r\n');
  asker.write('GET /healthz HTTP/1.1\r\n\r\n');
  const begunBy = (socket: Socket) => once(socket, 'data').then(begun);
  for (const before of await Promise.all([asker, other].map(begunBy))) expect(before).toBeLessThan(60);
  await expect.poll(begun).toBe(121);
});

test.each(await testPlanes())(
  'a client network that reads nothing leaves others their chain, and has its own when it has ended: %s',
  async (_, splice) => {
    // The usual limits, divided by 50.
    const config = { limits: { transfers: 40, perNetwork: 10, perClient: 10, perOrigin: 20 } };
    const large = Buffer.alloc(1_000_000, 'x');
    overlay = await startTestOverlay(
      ['d1', 'd2'],
      (request, response) => {
        if (request.url === '/rest') response.writeHead(200, { 'Content-Length': 2e9 }).write('begun');
        else response.end(request.url === '/large' ? large : 'hello');
      },
      splice,
      { config },
    );
    const { relayUrl, originUrl, depot } = overlay;
    const chainOf = async (path: string, localAddress: string) => {
      const before = depot('d1').events.length;
      const { status, body } = await fetchRaw(relayUrl(originUrl + path), { localAddress });
      expect([status, body.length]).toEqual([200, path === '/large' ? large.length : 5]);
      const ended = () =>
        depot('d1')
          .events.slice(before)
          .find(({ type }) => type === 'transfer');
      await expect.poll(ended).toBeDefined();
      return ended();
    };
    const waiting = Array.from({ length: 10 }, () => {
      const { pathname, search } = new URL(relayUrl(`${originUrl}/rest`));
      return open('d1', HERE, `GET ${pathname}${search} HTTP/1.1\r\n\r\n`);
    });
    await Promise.all(waiting.map((socket) => once(socket, 'data')));
    expect(await chainOf('/small', THERE)).toMatchObject({ chain: ['d1', 'd2'] });
    for (const socket of waiting) socket.destroy();
    await expect.poll(() => depot('d1').events.filter(({ type }) => type === 'transfer').length).toBe(11);
    for (let turn = 0; turn < 20; turn += 1)
      expect(await chainOf('/large', HERE)).toMatchObject({ chain: ['d1', 'd2'] });
  },
);

test.each(await testPlanes())(
  'tunnels of one client network take no more of a neighbour than they leave free, to their end: %s',
  async (_, splice) => {
    const limits = { transfers: 40, perNetwork: 40, perClient: 40, tunnelsPerJob: 40 };
    overlay = await startTestOverlay(['d1', 'd2'], () => {}, splice, { config: { limits } });
    const { ticket, originUrl } = overlay;
    const { host } = new URL(originUrl);
    const tunnel = async () => {
      const secret = ticket(`${originUrl}/file`, { kind: 'tunnel', chains: [['d1', 'd2']] });
      const socket = open(
        'd1',
        HERE,
        `CONNECT ${host} HTTP/1.1\r\nProxy-Authorization: Longhaul ${secret}\r\n\r\n`,
      );
      const [head] = (await once(socket, 'data')) as [Buffer];
      expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
      return socket;
    };
    const { events } = overlay.depot('d1');
    const crowded = () =>
      events.filter((event) => event.type === 'chain-failed' && event.code === 'next-depot-crowded').length;
    // Of the 20 places that a depot gives to a neighbour, half; then it goes from the entry depot alone.
    const standing: Socket[] = [];
    for (let turn = 0; turn < 10; turn += 1) standing.push(await tunnel());
    expect(crowded()).toBe(0);
    await tunnel();
    expect(crowded()).toBe(1);
    standing[0]?.destroy();
    const before = () => events.filter(({ type }) => type === 'tunnel').length;
    await expect.poll(before).toBeGreaterThan(0);
    await tunnel();
    expect(crowded()).toBe(1);
  },
);

test.each([
  ['a connection that has brought nothing', false, ''],
  ['half a head', false, HALF],
  ['half a handshake', true, '\x16\x03\x01\x00\xc8\x01'],
])('%s does not keep a depot from ending', async (_, isSecure, sent) => {
  const { depot } = await start({}, isSecure ? { tls: selfSigned() } : {});
  const waiting = open('d1', HERE, sent);
  await once(waiting, 'connect');
  await depot('d1').depot.close(3_600_000);
  await closed(waiting);
  expect(waiting.destroyed).toBe(true);
});
