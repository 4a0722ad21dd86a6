import { createServer, type Server, Socket } from 'node:net';
import { LonghaulError } from '@longhaul/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NameAsker, Resolve } from '../names/resolver.ts';
import { createDial, type DialTarget } from './dial.ts';
import { DEFAULT_LEG_TABLE } from './leg-options.ts';
import type { LegSockets } from './leg-sockets.ts';
import { createNodeLegSockets } from './node-leg-sockets.ts';

/** Beside the address that answers, one that belongs to the overlay. */
const ANSWERS = '127.0.0.1';
const OVERLAY = '127.0.0.9';
/** A public address (RFC 5737's are none by the rule), as if this machine had it. */
const OWN = '93.184.216.34';

let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

interface World {
  /** Addresses that never answer. */
  readonly silent?: readonly string[];
  /** Addresses at which an attempt fails at once, by what the system says. */
  readonly failing?: Readonly<Record<string, string>>;
  /** The first attempt is not answered, wherever it goes. */
  readonly losesFirst?: boolean;
  /** Addresses at which somebody else stands than was asked for. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  readonly allow?: boolean;
  readonly connectTimeoutMs?: number;
  readonly resolve?: Resolve;
}

/** A dial function, and the sockets it made, by address and in order. */
function dialIn(addresses: readonly string[], world: World = {}) {
  const {
    silent = [],
    losesFirst = false,
    failing = {},
    elsewhere = {},
    allow = true,
    connectTimeoutMs = 5000,
  } = world;
  const node = createNodeLegSockets(DEFAULT_LEG_TABLE);
  const made: [address: string, socket: Socket][] = [];
  const counted: Socket[] = [];
  const out = { times: 0 };
  const sockets: LegSockets = {
    ...node,
    connect: (legClass, address, at) => {
      const code = failing[address];
      const isLost = code !== undefined || silent.includes(address) || (losesFirst && made.length === 0);
      const socket = isLost ? new Socket() : node.connect(legClass, elsewhere[address] ?? address, at);
      made.push([address, socket]);
      if (code !== undefined) socket.destroy(Object.assign(new Error(code), { code }));
      return socket;
    },
    noteConnected: (_, socket) => counted.push(socket),
  };
  const networks = ['127.0.0.0/8', '::1/128', 'fd00::/8'];
  const dial = createDial({
    resolve: world.resolve ?? (async () => addresses),
    policy: {
      ports: [80, 443],
      allow: allow ? networks.map((network) => ({ network, ports: [port] })) : [],
      overlayNetworks: allow ? networks : [],
    },
    isOverlayAddress: (address) => address === OVERLAY,
    isOwnAddress: (address) => address === OWN,
    connectTimeoutMs,
    onOutOfDescriptors: () => (out.times += 1),
    sockets,
  });
  return {
    made,
    counted,
    out,
    dial: (target: Partial<DialTarget> = {}, signal = new AbortController().signal) =>
      dial({ purpose: 'origin', host: 'origin.test', port, ...target }, signal),
  };
}

describe('dialling an origin', () => {
  test('connects where the address is allowed, and tells the round-trip time', async () => {
    const { socket, rttMs } = await dialIn([ANSWERS]).dial();
    expect(socket.remoteAddress).toBe(ANSWERS);
    expect(rttMs).toBeGreaterThan(0);
    socket.destroy();
  });

  test('skips addresses that are not allowed and those that refuse', async () => {
    const { socket } = await dialIn(['10.0.0.1', OVERLAY, '::1', ANSWERS]).dial();
    expect(socket.remoteAddress).toBe(ANSWERS);
    socket.destroy();
  });

  test.each([
    ['a private address behind a name', ['192.168.0.1']],
    ['loopback', ['127.0.0.1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['IPv6 beyond global unicast', ['4000::1']],
    ['the overlay itself', [OVERLAY]],
  ])('never connects to %s', async (_, addresses) => {
    const { dial, made } = dialIn(addresses, { allow: false });
    await expect(dial({ port: 80 })).rejects.toMatchObject({ code: 'address-not-allowed', status: 403 });
    expect(made).toEqual([]);
  });

  test('never connects to its own machine, whose services may trust it: others reach that', async () => {
    const { dial, made } = dialIn([OWN], { allow: false });
    await expect(dial({ port: 80 })).rejects.toMatchObject({ code: 'origin-unreachable', blame: 'way' });
    expect(made).toEqual([]);
  });

  test('never uses a connection that leads to a forbidden address after all, and goes on to the next one', async () => {
    const { dial, made } = dialIn(['127.0.0.2', ANSWERS], { elsewhere: { '127.0.0.2': OVERLAY } });
    const { socket } = await dial();
    expect(socket.remoteAddress).toBe(ANSWERS);
    expect(made[0]?.[1].destroyed).toBe(true);
    socket.destroy();
  });

  test('asks an address again whose first answer was lost, and leaves nothing of that attempt', async () => {
    const { dial, made } = dialIn([ANSWERS], { losesFirst: true });
    const { socket } = await dial();
    expect(socket.remoteAddress).toBe(ANSWERS);
    expect(made.map(([address, { destroyed }]) => [address, destroyed])).toEqual([
      [ANSWERS, true],
      [ANSWERS, false],
    ]);
    socket.destroy();
  });

  test('says so when no descriptor is left for it, and only then', async () => {
    for (const [code, times] of [
      ['EMFILE', 1],
      ['ENFILE', 1],
      ['EHOSTUNREACH', 0],
    ] as const) {
      const { dial, out } = dialIn([ANSWERS], { failing: { [ANSWERS]: code } });
      await expect(dial()).rejects.toMatchObject({ code: 'origin-unreachable' });
      expect(out.times).toBe(times);
    }
  });

  test('asks an address once that refuses', async () => {
    const { dial, made } = dialIn([ANSWERS]);
    await expect(dial({ port: 1 })).rejects.toMatchObject({ code: 'address-not-allowed' });
    expect(made).toEqual([]);
    await expect(dial({ purpose: 'master', port: 1 })).rejects.toMatchObject({ code: 'master-unreachable' });
    expect(made).toHaveLength(1);
  });

  test('says that an address is not allowed only where no other one was', async () => {
    const elsewhere = { '127.0.0.2': OVERLAY };
    await expect(dialIn(['127.0.0.2'], { elsewhere }).dial()).rejects.toMatchObject({
      code: 'address-not-allowed',
    });
    await expect(dialIn(['::1', '127.0.0.2'], { elsewhere }).dial()).rejects.toMatchObject({
      code: 'origin-unreachable',
    });
  });

  test('tells a name without address, a refusal and silence apart', async () => {
    await expect(dialIn([]).dial()).rejects.toMatchObject({ code: 'origin-unresolvable' });
    await expect(dialIn([ANSWERS]).dial({ purpose: 'depot', port: 1 })).rejects.toMatchObject({
      code: 'next-depot-unreachable',
    });
    await expect(dialIn([ANSWERS]).dial({ purpose: 'master', port: 1 })).rejects.toMatchObject({
      code: 'master-unreachable',
    });
    const silence = { silent: ['127.0.0.2'], connectTimeoutMs: 50 };
    await expect(dialIn(['127.0.0.2'], silence).dial()).rejects.toMatchObject({ code: 'origin-timeout' });
    await expect(dialIn(['127.0.0.2'], silence).dial({ purpose: 'depot' })).rejects.toMatchObject({
      code: 'next-depot-timeout',
    });
  });
});

describe('a name', () => {
  test('is looked up for whoever wants the download, or for the overlay, as long as somebody asks', async () => {
    const asked: NameAsker[] = [];
    const signals: AbortSignal[] = [];
    const resolve: Resolve = (_, { forWhom, signal }) => {
      asked.push(forWhom);
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const { dial } = dialIn([], { resolve });
    const asker = new AbortController();
    const client = { client: '203.0.113.0/24' };
    const dials = ([{ forWhom: client }, {}, { purpose: 'depot' }, { purpose: 'master' }] as const).map(
      (target) => dial(target, asker.signal),
    );
    expect(asked).toEqual([client, { client: 'unknown' }, 'overlay', 'overlay']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, false]);
    asker.abort(new Error('gone'));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
    for (const one of await Promise.allSettled(dials))
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'gone' } });
  });

  test('that may not be looked up for now is said to be so, and not to have no address', async () => {
    const busy = dialIn([], { resolve: () => Promise.reject(new LonghaulError('resolver-busy')) });
    await expect(busy.dial()).rejects.toMatchObject({ code: 'resolver-busy', detail: 'origin.test' });
    const unknown = dialIn([], { resolve: () => Promise.reject(new Error('queryA ENOTFOUND')) });
    await expect(unknown.dial()).rejects.toMatchObject({ code: 'origin-unresolvable' });
    await expect(unknown.dial({ purpose: 'depot' })).rejects.toMatchObject({
      code: 'next-depot-unreachable',
    });
  });
});

describe('a name with several addresses', () => {
  test('is reached although the first one never answers, and that connection is closed', async () => {
    const { dial, made } = dialIn(['fd00::1', ANSWERS], { silent: ['fd00::1'] });
    const { socket } = await dial();
    expect(socket.remoteAddress).toBe(ANSWERS);
    expect(made.map(([address]) => address)).toEqual(['fd00::1', ANSWERS]);
    expect(made[0]?.[1].destroyed).toBe(true);
    socket.destroy();
  });

  test('is tried by both families in turn, the first answer of the name first', async () => {
    const elsewhere = { 'fd00::1': ANSWERS, 'fd00::2': ANSWERS, 'fd00::3': ANSWERS };
    const addresses = [...Object.keys(elsewhere), '127.0.0.1', '127.0.0.2'];
    const { dial, made } = dialIn(addresses, { elsewhere });
    await expect(dial({ port: 1, purpose: 'master' })).rejects.toMatchObject({ code: 'master-unreachable' });
    expect(made.map(([address]) => address)).toEqual([
      'fd00::1',
      '127.0.0.1',
      'fd00::2',
      '127.0.0.2',
      'fd00::3',
    ]);
  });

  test('has one deadline for all, after which no connection is left', async () => {
    const silent = ['fd00::1', '127.0.0.2'];
    const { dial, made } = dialIn(silent, { silent, connectTimeoutMs: 400 });
    await expect(dial()).rejects.toMatchObject({ code: 'origin-timeout' });
    expect(made.map(([, { destroyed }]) => destroyed)).toEqual([true, true]);
  });

  test('is given up at once by whoever asked, and nothing is left', async () => {
    const asker = new AbortController();
    const { dial, made } = dialIn(['127.0.0.2', ANSWERS], { silent: ['127.0.0.2'] });
    const dialled = dial({}, asker.signal);
    await expect.poll(() => made.length).toBe(1);
    asker.abort(new Error('nobody asks any more'));
    await expect(dialled).rejects.toThrow('nobody asks any more');
    expect(made.map(([, { destroyed }]) => destroyed)).toEqual([true]);
  });

  test('makes a depot try a few of them only, however many there are', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `127.0.1.${index}`);
    const { dial, made } = dialIn(many);
    await expect(dial({ port: 1, purpose: 'master' })).rejects.toMatchObject({ code: 'master-unreachable' });
    expect(made.length).toBeLessThanOrEqual(8);
  });

  test('has its winner counted, and no loser', async () => {
    const { dial, counted } = dialIn(['127.0.0.2', ANSWERS, '127.0.0.3'], { silent: ['127.0.0.2'] });
    const { socket } = await dial();
    expect(counted).toEqual([socket]);
    socket.destroy();
  });
});

describe('dialling a depot', () => {
  test.each([
    ['by what came of its addresses, where this depot has one family alone', 'ENETUNREACH', 'EHOSTUNREACH'],
    ['by what one could not be tried for', 'EMFILE', 'EMFILE'],
  ])('tells %s', async (_, here, told) => {
    const [v4, v6] = [ANSWERS, 'fd00::1'];
    for (const addresses of [
      [v4, v6],
      [v6, v4],
    ])
      await expect(
        dialIn(addresses, { failing: { [v4]: 'EHOSTUNREACH', [v6]: here } }).dial({ purpose: 'depot' }),
      ).rejects.toMatchObject({ code: 'next-depot-unreachable', cause: { code: told } });
  });

  test('connects where the overlay may be, on any port', async () => {
    const { socket } = await dialIn([ANSWERS]).dial({ purpose: 'depot' });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });

  test('connects to the addresses that it has proved, and asks no resolver for others', async () => {
    const { socket } = await dialIn([OVERLAY]).dial({ purpose: 'depot', addresses: [ANSWERS] });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
    await expect(
      dialIn([ANSWERS]).dial({ purpose: 'depot', addresses: ['192.168.0.1'] }),
    ).rejects.toMatchObject({ code: 'depot-address-not-allowed' });
  });

  test.each([
    ['a private address behind a name', ['192.168.0.1']],
    ['loopback', ['127.0.0.1']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['an address for metadata', ['169.254.169.254']],
  ])('never connects to %s, whatever the directory says', async (_, addresses) => {
    await expect(dialIn(addresses, { allow: false }).dial({ purpose: 'depot' })).rejects.toMatchObject({
      code: 'depot-address-not-allowed',
    });
  });
});
