import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Representation } from '../entry/representation.ts';
import { openLane } from './open-lane.ts';
import { readRetryAfter } from './origin-busy.ts';

const BODY = 'abcdefghijklmnopqrstuvwxyz';
const PART = { startByte: 0, endByte: BODY.length };
const REPRESENTATION: Representation = {
  sizeBytes: 100,
  validator: '"one"',
  validatedBy: 'etag',
  contentEncoding: '',
};
const HEAD = 'HTTP/1.1 206 Partial Content\r\nETag: "one"\r\nContent-Range: bytes 0-25/100\r\n';
const WHOLE = `${HEAD}Content-Length: 26\r\n\r\n${BODY}`;

let server: Server;
let port = 0;
let serve: (socket: Socket, request: string) => void;
let sockets: Socket[];
let requests: string[];

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      requests.push(chunk.toString('latin1'));
      serve(socket, chunk.toString('latin1'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
beforeEach(() => {
  sockets = [];
  requests = [];
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

function open(silenceMs = 5000) {
  const lane = openLane(
    async (firstBytes) => {
      const stream = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
      await once(stream, 'connect');
      stream.write(firstBytes);
      return { stream, chain: ['d1'] };
    },
    { path: '/file', headers: { host: 'origin.test' }, silenceMs, nowMs: () => performance.now() },
    REPRESENTATION,
  );
  const chunks: Buffer[] = [];
  const fetch = () => lane.connection.fetch(PART, (chunk) => chunks.push(chunk));
  return { ...lane, fetch, body: () => Buffer.concat(chunks).toString() };
}

describe('a connection for blocks', () => {
  test('serves one block after the other, and asks for exactly this part of this version', async () => {
    serve = (socket) => socket.write(WHOLE);
    const lane = open();
    await lane.fetch();
    await lane.fetch();
    await lane.fetch();
    expect(lane.body()).toBe(`${BODY}${BODY}${BODY}`);
    expect(sockets).toHaveLength(1);
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      expect(request).toMatch(/^GET \/file HTTP\/1\.1\r\n/);
      expect(request).toMatch(/\r\nrange: bytes=0-25\r\nif-range: "one"\r\n/i);
    }
    lane.connection.close();
    expect(lane.connection.isOver).toBe(true);
  });

  test('is over when the origin ends it, after its block or while nothing is asked', async () => {
    serve = (socket) => socket.end(WHOLE.replace('\r\nETag', '\r\nConnection: close\r\nETag'));
    const one = open();
    await one.fetch();
    expect(one.connection.isOver).toBe(true);

    serve = (socket) => socket.write(WHOLE);
    const other = open();
    await other.fetch();
    expect(other.connection.isOver).toBe(false);
    const [, socket] = sockets;
    socket?.resetAndDestroy();
    await expect(other.fetch()).rejects.toMatchObject({ code: 'origin-unreachable' });
    expect(other.connection.isOver).toBe(true);
  });

  test('is over when the origin says an end while nothing is asked', async () => {
    serve = (socket) => socket.write(WHOLE);
    const lane = open();
    await lane.fetch();
    sockets[0]?.end();
    await expect.poll(() => lane.connection.isOver).toBe(true);
    await expect(lane.fetch()).rejects.toMatchObject({ code: 'origin-unreachable' });
    lane.connection.close();
  });

  test.each([
    ['the whole file', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', 'origin-changed'],
    ['another version', WHOLE.replace('"one"', '"two"'), 'origin-changed'],
    ['another place', WHOLE.replace('0-25', '1-26'), 'origin-bad-answer'],
    ['another length', WHOLE.replace('26\r\n\r\n', '25\r\n\r\n'), 'origin-bad-answer'],
    ['another file', 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n', 'origin-bad-answer'],
    [
      'another protocol',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'origin-bad-answer',
    ],
    ['no HTTP', 'EHLO\r\n\r\n', 'origin-bad-answer'],
    [
      'more than it says, in chunks',
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n1b\r\n${BODY}!\r\n0\r\n\r\n`,
      'origin-bad-answer',
    ],
    [
      'less than it says, in chunks',
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`,
      'origin-unreachable',
    ],
  ])('takes nothing for a block that is %s', async (_, answer, code) => {
    serve = (socket) => socket.write(answer);
    const lane = open();
    await expect(lane.fetch()).rejects.toMatchObject({ code });
    expect(BODY.startsWith(lane.body())).toBe(true);
    expect(lane.connection.isOver).toBe(true);
  });

  test('takes an end in the middle for a break, with or without a length', async () => {
    for (const length of ['Content-Length: 26\r\n', 'Connection: close\r\n']) {
      serve = (socket) => socket.end(`${HEAD}${length}\r\nabc`);
      const lane = open();
      await expect(lane.fetch()).rejects.toMatchObject({ code: 'origin-unreachable' });
      expect(lane.body()).toBe('abc');
    }
  });

  test('breaks a silent connection, but not one that is paused', async () => {
    serve = (socket) => socket.write(`${HEAD}Content-Length: 26\r\n\r\nabc`);
    const silent = open(100);
    await expect(silent.fetch()).rejects.toMatchObject({ code: 'origin-timeout' });

    const paused = open(100);
    const fetched = paused.fetch();
    await expect.poll(() => paused.body()).toBe('abc');
    paused.connection.pause();
    await expect(Promise.race([fetched, open(300).fetch()])).rejects.toMatchObject({
      code: 'origin-timeout',
    });
    expect(paused.connection.isOver).toBe(false);
    sockets[1]?.write(BODY.slice(3));
    paused.connection.resume();
    const { firstByteMs, wholeMs } = await fetched;
    expect(paused.body()).toBe(BODY);
    expect(wholeMs).toBeLessThan(300);
    expect(firstByteMs).toBeLessThanOrEqual(wholeMs);
    paused.connection.close();
  });

  test('resets its way when it is closed, also when that stands only afterwards', async () => {
    serve = () => {};
    const { promise: wanted, resolve: want } = Promise.withResolvers<void>();
    const { promise: made, resolve: make } = Promise.withResolvers<Socket>();
    const lane = openLane(
      async () => {
        want();
        return { stream: await made, chain: [] };
      },
      { path: '/', headers: { host: 'origin.test' }, silenceMs: 5000, nowMs: () => performance.now() },
      REPRESENTATION,
    );
    const failed = lane.connection.fetch(PART, () => {}).catch((thrown: unknown) => thrown);
    await wanted;
    lane.connection.close();
    expect(await failed).toMatchObject({ code: 'origin-unreachable' });
    const stream = connect({ host: '127.0.0.1', port });
    await once(stream, 'connect');
    make(stream);
    await expect(lane.way).rejects.toMatchObject({ code: 'origin-unreachable' });
    expect(stream.destroyed).toBe(true);
  });
});

test('an origin says in seconds or by a date how long it is to be left alone', () => {
  const date = 'Sat, 21 Nov 2026 08:00:00 GMT';
  expect(readRetryAfter({ 'retry-after': '120' })).toBe(120);
  expect(readRetryAfter({ 'retry-after': 'Sat, 21 Nov 2026 08:00:30 GMT', date })).toBe(30);
  expect(readRetryAfter({ 'retry-after': 'Sat, 21 Nov 2026 07:00:00 GMT', date })).toBe(0);
  expect(readRetryAfter({ 'retry-after': 'soon', date })).toBeUndefined();
  expect(readRetryAfter({})).toBeUndefined();
});
