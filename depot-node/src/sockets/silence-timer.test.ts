import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { standStill } from '../testing/stand-still.ts';
import { SilenceTimer } from './silence-timer.ts';

test('does not count as silence what this process has not read yet', async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  await once(socket, 'connect');
  const silence = new SilenceTimer();
  let came = '';
  socket.on('data', (chunk: Buffer) => {
    came += chunk.toString();
    silence.touch();
  });
  const silent = new Promise<string>((resolve) => silence.start(100, () => resolve(came)));
  socket.write('first');
  await expect.poll(() => came).toBe('first');
  socket.write(' second');
  standStill(300);
  expect(await silent).toBe('first second');
  socket.destroy();
  server.close();
});

test('counts anew what is touched after it was told', async () => {
  const silence = new SilenceTimer();
  let told = 0;
  const twice = new Promise<void>((resolve) => {
    silence.start(1, () => {
      told += 1;
      if (told === 2) resolve();
      else silence.touch();
    });
  });
  await twice;
  silence.stop();
  expect(told).toBe(2);
});

test('counts nothing while it is paused, and a last look neither', async () => {
  const silence = new SilenceTimer();
  const silent = new Promise<void>((resolve) => silence.start(1, resolve));
  silence.pause();
  let isSilent = false;
  void silent.then(() => (isSilent = true));
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(isSilent).toBe(false);
  silence.resume();
  await silent;
});
