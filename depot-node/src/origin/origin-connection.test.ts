import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { KIB, LonghaulError } from '@longhaul/shared';
import { selfSigned } from '@longhaul/shared/service';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listenAnywhere } from '../testing/saboteur.ts';
import type { OriginRequest } from './conversation.ts';
import { type OpenStream, type OriginAnswer, OriginConnection } from './origin-connection.ts';
import { tinyChunks } from './tiny-chunks.ts';

const material = selfSigned();

let server: Server;
let serve: (socket: Socket, request: string) => void;
/** First bytes that went along with the making of the stream. */
let along: Buffer[];

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => serve(socket, chunk.toString('latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  along = [];
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const openStream: OpenStream = async (firstBytes) => {
  const address = server.address();
  const stream = connect({
    host: '127.0.0.1',
    port: typeof address === 'object' && address ? address.port : 0,
    allowHalfOpen: true,
  });
  await once(stream, 'connect');
  along.push(firstBytes);
  stream.write(firstBytes);
  return stream;
};

async function ask(
  method: OriginRequest['method'] = 'GET',
  open: OpenStream = openStream,
): Promise<OriginAnswer> {
  const asked = { method, target: '/file', headers: { host: 'origin.test' } };
  const connection = new OriginConnection(open);
  return { head: await connection.ask(asked, { answerMs: 2000 }), connection };
}

/** The body as it is read, and how that ended. */
async function readBody({ connection }: OriginAnswer) {
  const chunks: Buffer[] = [];
  const end = await connection.read({ silenceMs: 2000, onChunk: (chunk) => chunks.push(chunk) });
  connection.close();
  return { end, body: Buffer.concat(chunks) };
}

async function read(source: Duplex, sizeBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (chunks.reduce((sum, { length }) => sum + length, 0) >= sizeBytes) break;
  }
  return Buffer.concat(chunks);
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const bodyOf = (sizeBytes: number) => Buffer.alloc(sizeBytes, 'abcdefghijklmnopqrstuvwxyz0123456789');

describe('asking an origin', () => {
  test('sends the request along while the chain is built', async () => {
    serve = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    const answer = await ask();
    expect(along.map(String)).toEqual([expect.stringMatching(/^GET \/file HTTP\/1\.1\r\n[^]*\r\n\r\n$/)]);
    expect(await readBody(answer)).toEqual({ end: 'complete', body: Buffer.from('ok') });
  });

  test('hands a long body over whole, however it was cut into packets', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 256 * KIB, max: 600 * KIB }),
      fc.array(fc.integer({ min: 1, max: 100 * KIB }), { maxLength: 8 }),
      async (sizeBytes, cuts) => {
        const body = bodyOf(sizeBytes);
        serve = (socket) => void sendCut(socket, body, cuts);
        const taken = await (await ask()).connection.takeBody(() => true);
        expect(taken).toBeDefined();
        if (!taken) return;
        expect(taken.prefix.length + taken.restBytes).toBe(sizeBytes);
        const rest = await read(taken.source, taken.restBytes);
        expect(digest(Buffer.concat([taken.prefix, rest]))).toBe(digest(body));
        taken.source.destroy();
      },
    );
    await fc.assert(property, { numRuns: 30 });
  });

  test.each([
    ['is not wanted', 'Content-Length: 1000', 1000, 'GET'],
    ['is cut into chunks', 'Transfer-Encoding: chunked', 300_000, 'GET'],
    ['has no length', 'Connection: close', 300_000, 'GET'],
  ] as const)('leaves a body to HTTP that %s', async (_, header, sizeBytes, method) => {
    const body = bodyOf(sizeBytes);
    serve = (socket) => {
      const isChunked = header.endsWith('chunked');
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
      if (isChunked) socket.write(`${sizeBytes.toString(16)}\r\n`);
      socket.write(body);
      socket.end(isChunked ? '\r\n0\r\n\r\n' : '');
    };
    const answer = await ask(method);
    const isLong = (_below: Duplex, knownBytes: number) => knownBytes >= 256 * KIB;
    expect(await answer.connection.takeBody(isLong)).toBeUndefined();
    const read = await readBody(answer);
    expect(read.end).toBe('complete');
    expect(digest(read.body)).toBe(digest(body));
  });

  test.each([
    ['Connection: close', 'source-broke'],
    ['Content-Length: 6', 'complete'],
  ])(
    'never takes the end of TLS by Node, which a cut looks like, for that of a body: %s',
    async (header, end) => {
      const secured = createTlsServer(material, (socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\nall it`));
      });
      const port = await listenAnywhere(secured);
      const open: OpenStream = async (firstBytes) => {
        const stream = connectTls({ host: '127.0.0.1', port, ca: material.cert });
        await once(stream, 'secureConnect');
        stream.write(firstBytes);
        return stream;
      };
      const answer = await ask('GET', open);
      expect(answer.connection.tellsCuts).toBe(false);
      expect(await readBody(answer)).toEqual({ end, body: Buffer.from('all it') });
      secured.close();
    },
  );

  test('does not wait for the body of a HEAD', async () => {
    serve = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
    const answer = await ask('HEAD');
    expect(await answer.connection.takeBody(() => true)).toBeUndefined();
    expect(await readBody(answer)).toEqual({ end: 'complete', body: Buffer.alloc(0) });
  });

  test('tells why the chain could not be built, and not that nothing answered', async () => {
    const open: OpenStream = async () => {
      throw new LonghaulError('depot-full', { depot: 'd2' });
    };
    await expect(ask('GET', open)).rejects.toMatchObject({ code: 'depot-full', depot: 'd2' });
  });

  test('tells an origin that breaks off, one that says nonsense and one that says nothing apart', async () => {
    serve = (socket) => socket.resetAndDestroy();
    await expect(ask()).rejects.toMatchObject({ code: 'origin-unreachable' });
    serve = (socket) => socket.end('EHLO\r\n\r\n');
    await expect(ask()).rejects.toMatchObject({ code: 'origin-bad-answer' });
    serve = () => {};
    await expect(ask()).rejects.toMatchObject({ code: 'origin-timeout' });
  });
});

describe('reading an answer', () => {
  test('gathers bytes that come one by one, none of them lost or out of order', async () => {
    const body = bodyOf(20_000);
    serve = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunks = [...body].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
      socket.end(`${chunks}0\r\n\r\n`);
    };
    const { connection } = await ask();
    const chunks: Buffer[] = [];
    const end = await connection.read({ silenceMs: 2000, onChunk: (chunk) => chunks.push(chunk) });
    connection.close();
    expect(end).toBe('complete');
    expect(Buffer.concat(chunks).equals(body)).toBe(true);
    expect(chunks.length).toBeLessThan(100);
  });

  test('gives every byte, whatever sizes the chunks have and whenever it is paused', async () => {
    const sizes = fc.oneof(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 200, max: 300 }),
      fc.integer({ min: 16_000, max: 40_000 }),
    );
    const property = fc.asyncProperty(
      fc.array(sizes, { maxLength: 300 }),
      fc.integer({ min: 1, max: 20 }),
      async (chunkSizes, pauseEvery) => {
        const body = bodyOf(chunkSizes.reduce((sum, size) => sum + size, 0));
        serve = (socket) => {
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
          let at = 0;
          for (const size of chunkSizes) {
            socket.write(`${size.toString(16)}\r\n`);
            socket.write(body.subarray(at, at + size));
            socket.write('\r\n');
            at += size;
          }
          socket.end('0\r\n\r\n');
        };
        const { connection } = await ask();
        const chunks: Buffer[] = [];
        const onChunk = (chunk: Buffer) => {
          chunks.push(chunk);
          if (chunks.length % pauseEvery !== 0) return;
          connection.pause();
          setImmediate(() => connection.resume());
        };
        expect(await connection.read({ silenceMs: 5000, onChunk })).toBe('complete');
        connection.close();
        expect(Buffer.concat(chunks).equals(body)).toBe(true);
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  test('is silent for as long as its reader waits, who may read on then', async () => {
    const { promise: standing, resolve: take } = Promise.withResolvers<Socket>();
    serve = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab');
      take(socket);
    };
    const { connection } = await ask();
    const socket = await standing;
    let silences = 0;
    const onSilent = () => {
      silences += 1;
      if (silences === 1) connection.allowSilence(50);
      else socket.end('cd');
    };
    const chunks: Buffer[] = [];
    const onChunk = (chunk: Buffer) => chunks.push(chunk);
    expect(await connection.read({ silenceMs: 50, onSilent, onChunk })).toBe('complete');
    connection.close();
    expect(Buffer.concat(chunks).toString()).toBe('abcd');
    expect(silences).toBe(2);
  });

  test('may be asked again behind a body that ended in the very moment in which its reader was paused', async () => {
    serve = (socket) => {
      const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
      socket.write(answer);
      socket.on('data', () => socket.write(answer));
    };
    const { connection } = await ask();
    const onChunk = () => connection.pause();
    expect(await connection.read({ silenceMs: 2000, onChunk })).toBe('complete');
    connection.resume();
    const asked = { method: 'GET', target: '/file', headers: { host: 'origin.test' } } as const;
    expect(await connection.ask(asked, { answerMs: 1000 })).toMatchObject({ statusCode: 200 });
    connection.reset();
  });

  test('may be asked again behind a body whose last tiny chunk was one too many', async () => {
    const answerOf = (chunks: number) =>
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`;
    serve = (socket) => {
      socket.write(answerOf(500));
      socket.on('data', () => socket.write(answerOf(1)));
    };
    // Others bring tiny chunks, too: then it rests for its own.
    const others = Array.from({ length: 20 }, () => tinyChunks.sender());
    for (const other of others) other.note(1_000);
    const { connection } = await ask();
    expect(await connection.read({ silenceMs: 2000, onChunk: () => {} })).toBe('complete');
    const asked = { method: 'GET', target: '/file', headers: { host: 'origin.test' } } as const;
    expect(await connection.ask(asked, { answerMs: 1000 })).toMatchObject({ statusCode: 200 });
    connection.reset();
  });

  test('takes some interim answers, and ends with an origin that sends them without end', async () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n';
    serve = (socket) => socket.end(`${hint.repeat(20)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
    expect(await readBody(await ask())).toEqual({ end: 'complete', body: Buffer.from('ok') });
    serve = (socket) => {
      const flood = () => {
        if (socket.writable) socket.write(hint.repeat(100), flood);
      };
      flood();
    };
    await expect(ask()).rejects.toMatchObject({ code: 'origin-bad-answer' });
  });
});

/** Sends head and body in pieces of these sizes, each in a turn of its own, then the rest. */
async function sendCut(socket: Socket, body: Buffer, cuts: readonly number[]): Promise<void> {
  const whole = Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ]);
  let sent = 0;
  for (const cut of cuts) {
    socket.write(whole.subarray(sent, sent + cut));
    sent += cut;
    await nextTurn();
  }
  if (sent < whole.length) socket.write(whole.subarray(sent));
}
