import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type DepotEntry, HEADERS } from '@longhaul/shared';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Dial } from '../sockets/dial.ts';
import { Trust } from '../sockets/trust.ts';
import { ProofMaker } from './caller-proof.ts';
import { EarlyBytes } from './early-bytes.ts';
import { type ChainTarget, createNextLegs, type NextLegs } from './next-leg.ts';

const REQUEST = Buffer.from('GET /file HTTP/1.1\r\nHost: origin.test\r\n\r\n');
const TARGET: ChainTarget = {
  ticket: 'ticket',
  chainIndex: 0,
  chain: ['d1', 'd2'],
  authority: { host: 'origin.test', port: 80 },
};
const NEVER = new AbortController().signal;

/** A neighbour depot that keeps what comes in first, and answers as told. */
let server: Server;
let connections: Socket[];
let firstChunks: string[];
let answer: (socket: Socket) => unknown;
let legs: NextLegs;
let starts: string[];
let nowMs: number;

beforeEach(async () => {
  connections = [];
  firstChunks = [];
  starts = [];
  nowMs = 0;
  answer = (socket) => socket.write('HTTP/1.1 200 Connected\r\n\r\nANSWER');
  server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      firstChunks.push(chunk.toString('latin1'));
      void answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const entry = { id: 'd2', host: '127.0.0.1', port: portOf(server), tls: false } as DepotEntry;
  const dial: Dial = async () => {
    const socket = connect({ host: '127.0.0.1', port: portOf(server), allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    return { socket, rttMs: 1 };
  };
  legs = createNextLegs({
    dial,
    findDepot: async () => entry,
    knownDepot: () => entry,
    trust: new Trust(),
    proofs: new ProofMaker({
      identity: { id: 'd1', sign: () => 'S'.repeat(86) },
      macs: { with: () => () => 'M'.repeat(43) },
      nowMs: () => nowMs,
    }),
    noteRtt: () => {},
    onBroken: () => {},
    onLeg: (start) => starts.push(start),
    connectTimeoutMs: 2000,
    neighbours: { transfers: 2000, perOrigin: 1000 },
    spareLegs: 2,
    nowMs: () => nowMs,
  });
});

afterEach(async () => {
  legs.close();
  for (const socket of connections) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** By its length, as the neighbour tells them apart. */
function proofOf(head: string): 'signature' | 'mac' | undefined {
  const [, proof] = /longhaul-proof: d1 [0-9]+ (\S+)\r\n/i.exec(head) ?? [];
  return proof?.length === 43 ? 'mac' : proof?.length === 86 ? 'signature' : undefined;
}

function portOf(listening: Server): number {
  const address = listening.address();
  return typeof address === 'object' && address ? address.port : 0;
}

describe('the connection to the next depot', () => {
  test('carries the first bytes in one piece with the request for the tunnel', async () => {
    const tunnel = await legs.open(TARGET, 0, NEVER, new EarlyBytes(REQUEST));
    expect(firstChunks[0]).toMatch(/^CONNECT origin\.test:80 HTTP\/1\.1\r\n/);
    expect(firstChunks[0]?.endsWith(`\r\n\r\n${REQUEST.toString('latin1')}`)).toBe(true);
    expect(String(tunnel.read() ?? (await once(tunnel, 'data'))[0])).toBe('ANSWER');
    tunnel.destroy();
  });

  test('gives what comes behind the answer, however that is cut into pieces', async () => {
    const said = 'HTTP/1.1 200 Connected\r\nLonghaul-Depot: d2\r\n\r\nfrom the origin\r\n\r\n, all of it';
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: said.length - 1 })), async (cuts) => {
        const ends = [...cuts.toSorted((one, other) => one - other), said.length];
        answer = async (socket) => {
          for (const [index, end] of ends.entries()) {
            socket.write(said.slice(ends[index - 1] ?? 0, end));
            await new Promise(setImmediate);
          }
          socket.end();
        };
        const tunnel = await legs.open(TARGET, 0, NEVER);
        expect(await text(tunnel)).toBe('from the origin\r\n\r\n, all of it');
        tunnel.destroy();
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['is an ordinary page', 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'],
    ['tells of a refusal that there is none', `HTTP/1.1 502 Bad\r\n${HEADERS.error}: no-such-code\r\n\r\n`],
    ['goes on before it says that it stands', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['never ends', `HTTP/1.1 200 Connected\r\nX: ${'x'.repeat(70_000)}`],
    ['ends early', 'HTTP/1.1 200 Conn'],
    ['is nothing', ''],
  ])('is given up where the answer %s', async (_, said) => {
    answer = (socket) => {
      if (said.length < 70_000) socket.end(said);
      else socket.write(said);
    };
    await expect(legs.open(TARGET, 0, NEVER)).rejects.toMatchObject({
      code: 'next-depot-unreachable',
      depot: 'd2',
    });
  });

  test('names the depot behind the next one that has refused, and none that is not of the chain', async () => {
    const chain = ['d1', 'd2', 'd3'];
    const refusals: unknown[] = [];
    for (const depot of ['d3', 'd1', 'elsewhere']) {
      answer = (socket) =>
        socket.end(
          `HTTP/1.1 502 Bad Gateway\r\n${HEADERS.error}: origin-unreachable\r\n${HEADERS.depot}: ${depot}\r\n\r\n`,
        );
      refusals.push(await legs.open({ ...TARGET, chain }, 0, NEVER).catch((failure: unknown) => failure));
    }
    const code = 'origin-unreachable';
    expect(refusals).toMatchObject([
      { code, depot: 'd3' },
      { code, depot: 'd2' },
      { code, depot: 'd2' },
    ]);
  });

  test('is proved by a MAC from the second time on to a neighbour that takes them, and to no other', async () => {
    (await legs.open(TARGET, 0, NEVER)).destroy();
    (await legs.open(TARGET, 0, NEVER)).destroy();
    expect(firstChunks.map(proofOf)).toEqual(['signature', 'signature']);
    answer = (socket) => socket.write('HTTP/1.1 200 Connected\r\nLonghaul-Proofs: mac\r\n\r\nANSWER');
    for (let time = 0; time < 3; time += 1) (await legs.open(TARGET, 0, NEVER)).destroy();
    expect(firstChunks.slice(2).map(proofOf)).toEqual(['signature', 'mac', 'mac']);
  });

  test('is proved by a signature again when a neighbour takes MACs no more, without anybody noticing', async () => {
    answer = (socket) => socket.write('HTTP/1.1 200 Connected\r\nLonghaul-Proofs: mac\r\n\r\n');
    (await legs.open(TARGET, 0, NEVER)).destroy();
    // As a depot of the version before answers.
    answer = (socket) =>
      socket.write(
        proofOf(firstChunks.at(-1) ?? '') === 'signature'
          ? 'HTTP/1.1 200 Connected\r\n\r\nANSWER'
          : `HTTP/1.1 403 Forbidden\r\nLonghaul-Error: caller-not-proved\r\nLonghaul-Depot: d2\r\n\r\n`,
      );
    const tunnel = await legs.open(TARGET, 0, NEVER, new EarlyBytes(REQUEST));
    expect(String(tunnel.read() ?? (await once(tunnel, 'data'))[0])).toBe('ANSWER');
    tunnel.destroy();
    expect(firstChunks.at(-1)?.endsWith(REQUEST.toString('latin1'))).toBe(true);
    (await legs.open(TARGET, 0, NEVER)).destroy();
    expect(firstChunks.map(proofOf)).toEqual(['signature', 'mac', 'signature', 'signature']);
  });

  test('is asked for once where a signature is refused', async () => {
    answer = (socket) =>
      socket.write(
        `HTTP/1.1 403 Forbidden\r\nLonghaul-Error: caller-not-proved\r\nLonghaul-Depot: d2\r\n\r\n`,
      );
    await expect(legs.open(TARGET, 0, NEVER)).rejects.toMatchObject({ code: 'caller-not-proved' });
    expect(firstChunks).toHaveLength(1);
  });

  test('is ready before the next download asks, and takes no handshake then', async () => {
    (await legs.open(TARGET, 0, NEVER)).destroy();
    await expect.poll(() => legs.spareCount()).toBe(2);
    (await legs.open(TARGET, 0, NEVER)).destroy();
    expect(starts).toEqual(['dialled', 'spare']);
    await expect.poll(() => legs.spareCount()).toBe(2);
    await expect.poll(() => connections).toHaveLength(4);
  });

  test('is dialled anew when the one that waited is dead, without anybody noticing', async () => {
    (await legs.open(TARGET, 0, NEVER)).destroy();
    await expect.poll(() => legs.spareCount()).toBe(2);
    // Dies at the moment of use, after it has been taken.
    let isFirst = true;
    const answerWell = answer;
    answer = (socket) => {
      if (isFirst) socket.resetAndDestroy();
      else void answerWell(socket);
      isFirst = false;
    };
    (await legs.open(TARGET, 0, NEVER, new EarlyBytes(REQUEST))).destroy();
    expect(starts).toEqual(['dialled', 'dialled']);
    expect(firstChunks.at(-1)?.endsWith(REQUEST.toString('latin1'))).toBe(true);
  });

  test('that was begun for a download before it came is taken, also while it is being opened', async () => {
    legs.prepare('d2');
    legs.prepare('d2');
    const [one, other] = await Promise.all([legs.open(TARGET, 0, NEVER), legs.open(TARGET, 0, NEVER)]);
    expect(starts.toSorted()).toEqual(['spare', 'spare']);
    one.destroy();
    other.destroy();
  });

  test('that was begun for a download that is given up waits for the next one', async () => {
    legs.prepare('d2');
    await expect(legs.open(TARGET, 0, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    (await legs.open(TARGET, 0, NEVER)).destroy();
    expect(starts).toEqual(['spare']);
  });

  test('tells a refusal that comes over a waiting connection as it is', async () => {
    (await legs.open(TARGET, 0, NEVER)).destroy();
    await expect.poll(() => legs.spareCount()).toBe(2);
    answer = (socket) =>
      socket.end(`HTTP/1.1 503 Full\r\n${HEADERS.error}: depot-full\r\nContent-Length: 0\r\n\r\n`);
    await expect(legs.open(TARGET, 0, NEVER)).rejects.toMatchObject({ code: 'depot-full', depot: 'd2' });
    expect(firstChunks).toHaveLength(2);
  });

  test('keeps no connection that the neighbour closed, and dials no other before it is needed', async () => {
    (await legs.open(TARGET, 0, NEVER)).destroy();
    await expect.poll(() => legs.spareCount()).toBe(2);
    await expect.poll(() => connections).toHaveLength(3);
    for (const socket of connections.slice(1)) socket.end();
    await expect.poll(() => legs.spareCount()).toBe(0);
    expect(connections).toHaveLength(3);
  });

  test('leaves no connection open when it is closed', async () => {
    (await legs.open(TARGET, 0, NEVER)).destroy();
    await expect.poll(() => legs.spareCount()).toBe(2);
    await expect.poll(() => connections).toHaveLength(3);
    const closed = connections.slice(1).map((socket) => once(socket.resume(), 'close'));
    legs.close();
    await Promise.all(closed);
    expect(legs.spareCount()).toBe(0);
  });
});
