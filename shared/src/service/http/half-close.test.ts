import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { allowHalfClose } from './half-close.ts';

let server: Server;
let nowMs: number;
let answers: ServerResponse[];
beforeEach(async () => {
  nowMs = 0;
  answers = [];
  server = createServer((_request, response) => answers.push(response)).listen(0, '127.0.0.1');
  allowHalfClose(server, { nowMs: () => nowMs, lookMs: 20 });
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A client whose requests, so many, are with the server. */
async function ask(requests = 1, version = '1.1'): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.write(`GET / HTTP/${version}\r\nHost: x\r\n\r\n`.repeat(requests));
  await expect.poll(() => answers.length).toBe(requests);
  return client;
}

/** The client ends its side, and the server knows. */
async function end(client: Socket): Promise<void> {
  const socket = answers[0]?.socket;
  const ended = once(socket ?? client, 'end');
  client.end();
  await ended;
}

test('who ends its side with its requests gets all answers, and the connection ends behind the last', async () => {
  const client = await ask(3);
  await end(client);
  const got = text(client);
  for (const [index, answer] of answers.entries()) answer.end(`answer ${index}`);
  expect((await got).match(/answer [0-9]/g)).toEqual(['answer 0', 'answer 1', 'answer 2']);
});

test('who closes with its request is found to be gone, before there is an answer', async () => {
  const client = await ask();
  const left = once(answers[0] ?? client, 'close');
  client.destroy();
  await left;
  expect(answers[0]?.headersSent).toBe(false);
});

test('who closes with its request is found to be gone when its answer has begun, where it knows no other', async () => {
  const client = await ask(1, '1.0');
  const left = once(answers[0] ?? client, 'close');
  const ended = once(answers[0]?.socket ?? client, 'end');
  client.destroy();
  await ended;
  answers[0]?.write('begun');
  await left;
  expect(answers[0]?.writableFinished).toBe(false);
});

test('who waits behind its end for an answer gets one, whatever it got before', async () => {
  const client = await ask();
  const got = text(client);
  const began = once(client, 'data');
  await end(client);
  await began;
  answers[0]?.end('answer');
  expect(await got).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*answer/s);
});

test('who ends its side later has left', async () => {
  const client = await ask();
  const left = once(answers[0] ?? client, 'close');
  nowMs = 1000;
  await end(client);
  await left;
  expect(answers[0]?.writableFinished).toBe(false);
});

test('who ends its side when he has some of the answer has left', async () => {
  const client = await ask();
  answers[0]?.writeHead(200, { 'Content-Length': 10 }).write('begun');
  await once(client, 'data');
  const left = once(answers[0] ?? client, 'close');
  await end(client);
  await left;
  expect(answers[0]?.writableFinished).toBe(false);
});

test('who ends its side between two requests keeps no connection', async () => {
  const client = await ask();
  answers[0]?.end('answer');
  await once(client, 'data');
  client.end();
  await once(client.resume(), 'close');
  expect(client.readableEnded).toBe(true);
});

test('who ends his side of a tunnel gets what comes through it, though a request was answered over the same connection', async () => {
  server.once('connect', (_request, socket: Socket) => {
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    socket.resume();
    socket.once('end', () => setImmediate(() => socket.end('the rest')));
  });
  const client = await ask();
  answers[0]?.end('answer');
  await once(client, 'data');
  client.write('CONNECT there:1 HTTP/1.1\r\nHost: there:1\r\n\r\n');
  await once(client, 'data');
  nowMs = 5000;
  client.end();
  expect(await text(client)).toBe('the rest');
});
