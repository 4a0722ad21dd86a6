import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OriginConnection } from '../origin/origin-connection.ts';
import type { Representation } from '../origin/representation.ts';
import { fetchBlock } from './fetch-block.ts';

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

const requestWith = (silenceMs: number) => ({
  asked: { method: 'GET' as const, target: '/file', headers: { host: 'origin.test' } },
  representation: REPRESENTATION,
  silenceMs,
});

function open(silenceMs = 5000) {
  const connection = new OriginConnection(async (firstBytes) => {
    const stream = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    await once(stream, 'connect');
    stream.write(firstBytes);
    return stream;
  });
  const chunks: Buffer[] = [];
  const fetch = () =>
    fetchBlock(connection, requestWith(silenceMs), PART, { onChunk: (chunk) => chunks.push(chunk) });
  return { connection, fetch, body: () => Buffer.concat(chunks).toString() };
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
    expect(lane.connection.isOpen).toBe(false);
  });

  test('is over when the origin ends it, after its block or while nothing is asked', async () => {
    serve = (socket) => socket.end(WHOLE.replace('\r\nETag', '\r\nConnection: close\r\nETag'));
    const one = open();
    await one.fetch();
    expect(one.connection.isOpen).toBe(false);

    serve = (socket) => socket.write(WHOLE);
    const other = open();
    await other.fetch();
    expect(other.connection.isOpen).toBe(true);
    const [, socket] = sockets;
    socket?.resetAndDestroy();
    await expect(other.fetch()).rejects.toMatchObject({ code: 'origin-unreachable' });
    expect(other.connection.isOpen).toBe(false);
  });

  test('is over when the origin says an end while nothing is asked', async () => {
    serve = (socket) => socket.write(WHOLE);
    const lane = open();
    await lane.fetch();
    sockets[0]?.end();
    await expect.poll(() => lane.connection.isOpen).toBe(false);
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
    expect(lane.connection.isOpen).toBe(false);
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
    sockets[1]?.write(BODY.slice(3));
    paused.connection.resume();
    await fetched;
    expect(paused.body()).toBe(BODY);
    expect(paused.connection.isOpen).toBe(true);
    paused.connection.close();
  });

  test('resets its stream when it is closed, also when that stands only afterwards', async () => {
    serve = () => {};
    const { promise: wanted, resolve: want } = Promise.withResolvers<void>();
    const { promise: made, resolve: make } = Promise.withResolvers<Socket>();
    const connection = new OriginConnection(() => {
      want();
      return made;
    });
    const failed = fetchBlock(connection, requestWith(5000), PART, { onChunk: () => {} }).catch(
      (thrown: unknown) => thrown,
    );
    await wanted;
    connection.close();
    expect(await failed).toMatchObject({ code: 'origin-unreachable' });
    const stream = connect({ host: '127.0.0.1', port });
    await once(stream, 'connect');
    make(stream);
    await expect(connection.stands).rejects.toMatchObject({ code: 'origin-unreachable' });
    expect(stream.destroyed).toBe(true);
  });
});
