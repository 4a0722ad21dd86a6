import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createDial, type Dial } from '../sockets/dial.ts';
import { Trust } from '../sockets/trust.ts';
import { testEndings } from '../testing/test-endings.ts';
import { startTestMaster, type TestMaster } from '../testing/test-master.ts';
import { MasterClient } from './master-client.ts';
import { proofOf } from './masters-proof.ts';

let master: TestMaster;
let client: MasterClient;
let dialledSockets: Socket[];

const ENDINGS = await testEndings();

type DialInit = Parameters<typeof createDial>[0];

beforeEach(async () => {
  master = await startTestMaster();
  nowMs = 1_795_000_000_000;
  dialledSockets = [];
  client = clientOf(master.url);
});
afterEach(() => master.close());

const DIAL: DialInit = {
  resolve: async (host) => [host],
  policy: { ports: [], allow: [] },
  isOverlayAddress: () => true,
  connectTimeoutMs: 2000,
};
const dial = createDial(DIAL);

let nowMs = 1_795_000_000_000;

function clientOf(
  masterUrl: string,
  otherMasters: () => readonly string[] = () => [],
  { dialBy = dial, trust = new Trust() }: { dialBy?: Dial; trust?: Trust } = {},
): MasterClient {
  return new MasterClient({
    masterUrl,
    otherMasters,
    identity: { id: 'd1', publicKey: 'A'.repeat(43), sign: () => 'x'.repeat(86), agree: () => undefined },
    proof: proofOf(master.secret, { read: () => undefined }),
    dial: async (target, signal) => {
      const dialled = await dialBy(target, signal);
      dialledSockets.push(dialled.socket);
      return dialled;
    },
    trust,
    nowMs: () => nowMs,
  });
}

const URL_OF_FILE = 'https://origin.example/f';

test('every request is dated and numbered, so that none of them is of use a second time', async () => {
  const self = { host: '127.0.0.1', port: 7001, tls: false };
  await client.register(self);
  await client.heartbeat({ activeTransfers: 0, draining: false, links: [], sizes: [] });
  await client.register(self);
  const [epoch] = master.requests.map(({ stamp }) => stamp?.epoch);
  expect(epoch).toMatch(/^[A-Za-z0-9_-]{16}$/);
  expect(master.requests.map(({ stamp }) => stamp)).toEqual(
    [1, 2, 3].map((sequence) => ({ timeMs: 1_795_000_000_000, epoch, sequence })),
  );
});

test('a refusal says how far the clocks differ, when that may be why', async () => {
  master.onHeartbeat = () => ({ status: 401, body: {}, code: 'depot-signature-wrong' });
  const beat = client.heartbeat({ activeTransfers: 0, draining: false, links: [], sizes: [] });
  await expect(beat).rejects.toMatchObject({
    code: 'depot-signature-wrong',
    detail: expect.stringMatching(
      /^the master answered 401, and its clock is \d+ s (behind|ahead of) this one$/,
    ),
  });
});

test('an exchange ends whatever is answered, or the depot would never be heard of again', async () => {
  const odd = createServer((socket) => {
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    socket.on('error', () => {}).once('data', () => socket.write(switching));
  });
  onTestFinished(() => void odd.close());
  odd.listen(0, '127.0.0.1');
  await once(odd, 'listening');
  const { port } = odd.address() as AddressInfo;
  const beat = clientOf(`http://127.0.0.1:${port}`).heartbeat({
    activeTransfers: 0,
    draining: false,
    links: [],
    sizes: [],
  });
  await expect(beat).rejects.toMatchObject({ code: 'master-unreachable' });
});

describe('why a master cannot be reached is told:', () => {
  const BEAT = { activeTransfers: 0, draining: false, links: [], sizes: [] };
  const portOf = async (server: Server) => {
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const detailOf = async (masterUrl: string, other: Pick<DialInit, 'resolve'> & { trust?: Trust }) => {
    const dialBy = createDial({ ...DIAL, resolve: other.resolve });
    const asked = clientOf(masterUrl, undefined, { ...other, dialBy });
    const failure: unknown = await asked.heartbeat(BEAT).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'master-unreachable' });
    return (failure as { detail: string }).detail;
  };
  const here = async () => ['127.0.0.1'];

  test('there is no address for its name', async () => {
    const nowhere = async () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    expect(await detailOf('https://get.example', { resolve: nowhere })).toBe(
      'get.example: there is no address for this name, ENOTFOUND',
    );
    expect(await detailOf('https://get.example', { resolve: async () => [] })).toBe(
      'get.example: there is no address for this name',
    );
  });

  test('nobody listens there', async () => {
    expect(await detailOf('https://get.example:1', { resolve: here })).toBe(
      'get.example: nobody listens at port 1, ECONNREFUSED',
    );
  });

  test('the connection breaks off', async () => {
    const port = await portOf(createServer((socket) => void socket.on('error', () => {}).end()));
    expect(await detailOf(`http://get.example:${port}`, { resolve: here })).toBe('get.example: ECONNRESET');
  });

  describe.each(ENDINGS)('by %s,', (_, ending) => {
    test('nobody vouches for its certificate, or it is for another name', async () => {
      const own = selfSigned();
      const port = await portOf(createTlsServer(own).on('connection', (s) => s.on('error', () => {})));
      expect(
        await detailOf(`https://127.0.0.1:${port}`, { resolve: here, trust: new Trust([], ending) }),
      ).toMatch(
        /^127\.0\.0\.1: its certificate is not trusted, (DEPTH_ZERO_SELF_SIGNED_CERT|self-signed certificate): .*trustedCaFiles$/,
      );
      const trust = new Trust([own.cert], ending);
      expect(await detailOf(`https://get.example:${port}`, { resolve: here, trust })).toMatch(
        /^get\.example: its certificate is for another name, (ERR_TLS_CERT_ALTNAME_INVALID|hostname mismatch)$/,
      );
    });
  });
});

test.each([
  ['not-found', 404],
  ['method-not-allowed', 405],
] as const)('an answer that is %s says that there is no master at master.url', async (code, status) => {
  master.onHeartbeat = () => ({ status, body: {}, code });
  nowMs = Date.now();
  const beat = client.heartbeat({ activeTransfers: 0, draining: false, links: [], sizes: [] });
  await expect(beat).rejects.toMatchObject({
    code,
    detail: `what answers at master.url is no master: it answered ${status}`,
  });
});

describe('a follow-up ticket', () => {
  test('is asked for by ticket and URL, and by the depots that failed where another way is wanted', async () => {
    const asked: object[] = [];
    master.onFollowUp = (body) => {
      asked.push(body);
      return { status: 200, body: { ticket: 'another' } };
    };
    expect(await client.followUp('first', URL_OF_FILE)).toBe('another');
    expect(await client.followUp('first', URL_OF_FILE, ['d2', 'd3'])).toBe('another');
    expect(asked).toEqual([
      { ticket: 'first', url: URL_OF_FILE },
      { ticket: 'first', url: URL_OF_FILE, avoid: ['d2', 'd3'] },
    ]);
  });

  test('avoids the depots that failed last where they are more than a request may name', async () => {
    let named: readonly string[] = [];
    master.onFollowUp = ({ avoid = [] }) => {
      named = avoid;
      return { status: 200, body: { ticket: 'another' } };
    };
    await client.followUp(
      'first',
      URL_OF_FILE,
      Array.from({ length: 20 }, (_, index) => `d${index}`),
    );
    expect(named).toHaveLength(16);
    expect(named.at(-1)).toBe('d19');
  });

  test("that is refused comes with the master's code", async () => {
    master.onFollowUp = () => ({ status: 503, body: {}, code: 'no-other-chain' });
    await expect(client.followUp('first', URL_OF_FILE, ['d2'])).rejects.toMatchObject({
      code: 'no-other-chain',
    });
  });
});

describe('a depot that knows several masters', () => {
  const BEAT = { activeTransfers: 0, draining: false, links: [], sizes: [] };

  /** Another master, and how many requests it has had. */
  async function other(port?: number): Promise<TestMaster> {
    const started = await startTestMaster(port);
    onTestFinished(() => started.close());
    return started;
  }

  test('speaks with another one at once when its own is gone, and with its own again soon after that is back', async () => {
    const second = await other();
    const member = clientOf(master.url, () => [master.url, second.url]);
    await member.heartbeat(BEAT);
    expect(second.requests).toHaveLength(0);
    await master.close();
    await member.heartbeat(BEAT);
    await member.heartbeat(BEAT);
    expect(second.requests).toHaveLength(2);
    const back = await other(Number(new URL(master.url).port));
    nowMs += 15_000;
    await member.heartbeat(BEAT);
    expect(back.requests).toHaveLength(1);
    expect(second.requests).toHaveLength(2);
  });

  test('asks another one where its own has no connection in time', async () => {
    const second = await other();
    const dialBy: Dial = async (target, signal) => {
      if (target.host === 'get.example') throw new DOMException('late', 'TimeoutError');
      return dial(target, signal);
    };
    await clientOf('http://get.example', () => [second.url], { dialBy }).heartbeat(BEAT);
    expect(second.requests).toHaveLength(1);
  });

  test('passes over what is no master of its overlay', async () => {
    await master.close();
    const liar = createServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', () => {
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
        });
    });
    onTestFinished(() => void liar.close());
    await once(liar.listen(0, '127.0.0.1'), 'listening');
    const lie = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    const third = await other();
    await clientOf(master.url, () => [lie, third.url]).heartbeat(BEAT);
    expect(third.requests).toHaveLength(1);
  });

  test('hears a refusal of its own one, and does not look for another opinion', async () => {
    master.onHeartbeat = () => ({ status: 409, body: {}, code: 'depot-twice' });
    const second = await other();
    const beat = clientOf(master.url, () => [second.url]).heartbeat(BEAT);
    await expect(beat).rejects.toMatchObject({ code: 'depot-twice' });
    expect(second.requests).toHaveLength(0);
  });

  test('speaks with another one while the clock of its own is wrong, and hears what its own says where all are against it', async () => {
    const refusal = { status: 401, body: {}, code: 'depot-signature-wrong' } as const;
    master.onHeartbeat = () => refusal;
    const second = await other();
    const depot = clientOf(master.url, () => [second.url]);
    // Its clock is far off that of this machine, by which both masters date their answers.
    await depot.heartbeat(BEAT);
    expect(second.requests).toHaveLength(1);
    second.onHeartbeat = () => ({ status: 409, body: {}, code: 'depot-twice' });
    await expect(depot.heartbeat(BEAT)).rejects.toMatchObject({ code: 'depot-twice' });
    second.onHeartbeat = () => refusal;
    await expect(clientOf(master.url, () => [second.url]).heartbeat(BEAT)).rejects.toMatchObject({
      code: 'depot-signature-wrong',
      detail: expect.stringContaining('clock'),
    });
  });

  test('does not look for another opinion on its signature where the clocks agree', async () => {
    master.onHeartbeat = () => ({ status: 401, body: {}, code: 'depot-signature-wrong' });
    const second = await other();
    nowMs = Date.now();
    const beat = clientOf(master.url, () => [second.url]).heartbeat(BEAT);
    await expect(beat).rejects.toMatchObject({ code: 'depot-signature-wrong' });
    expect(second.requests).toHaveLength(0);
  });

  test('says that its own one cannot be reached when none can', async () => {
    await master.close();
    const second = await other();
    await second.close();
    const beat = clientOf(master.url, () => [second.url, second.url]).heartbeat(BEAT);
    await expect(beat).rejects.toMatchObject({ code: 'master-unreachable' });
  });
});

test('heartbeats come over one connection, which the master sees break, and over a new one after that', async () => {
  const beat = { activeTransfers: 0, draining: false, links: [], sizes: [] };
  await client.heartbeat(beat);
  const listeners = () => dialledSockets[0]?.listenerCount('end');
  const [once, requests] = [listeners(), 15];
  for (let time = 1; time < requests; time += 1) await client.heartbeat(beat);
  expect(dialledSockets).toHaveLength(1);
  expect(listeners(), 'it is looked after once').toBe(once);
  dialledSockets[0]?.destroy();
  await client.heartbeat(beat);
  expect(dialledSockets).toHaveLength(2);
  // It ends while the next one is on its way.
  master.beforeAnswer = async () => {
    master.beforeAnswer = async () => {};
    dialledSockets[1]?.destroy();
  };
  await client.heartbeat(beat);
  expect(dialledSockets).toHaveLength(3);
  expect(master.requests.map(({ stamp }) => stamp?.sequence)).toEqual(
    Array.from({ length: requests + 3 }, (_, index) => index + 1),
  );
  client.close();
  expect(dialledSockets.every(({ destroyed }) => destroyed)).toBe(true);
});
