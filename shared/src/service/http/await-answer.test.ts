import { request } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { awaitAnswer } from './await-answer.ts';

let server: Server;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

async function ask(answer: (socket: Socket) => void, signal?: AbortSignal) {
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ host: '127.0.0.1', port, signal });
  outgoing.end();
  return awaitAnswer(outgoing);
}

test('an answer is given with its whole body to come', async () => {
  const answer = await ask((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'));
  expect(await text(answer)).toBe('hello');
});

test.each<[string, (socket: Socket) => void, RegExp]>([
  [
    'switches protocols',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    /switches protocols/,
  ],
  ['ends without a word', (socket) => socket.end(), /hang up/],
  ['resets', (socket) => socket.resetAndDestroy(), /ECONNRESET/],
  ['ends in its head', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'), /hang up|Parse Error/],
  ['says nonsense', (socket) => socket.end('what?\r\n\r\n'), /Parse Error/],
])('a server that %s is a failure, and not a wait without end', async (_, answer, reason) => {
  await expect(ask(answer)).rejects.toThrow(reason);
});

test('a silent server is a failure when the time is over', async () => {
  await expect(ask(() => {}, AbortSignal.timeout(50))).rejects.toThrow(/aborted/);
});
