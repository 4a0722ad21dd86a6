import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { beginKeyUpdates } from './key-updates.ts';
import { selfSigned } from './self-signed.ts';
import { TlsWatch } from './tls-watch.ts';

let server: Server;
let port: number;
let received: number;
const clients: Socket[] = [];

beforeEach(async () => {
  received = 0;
  const watch = new TlsWatch();
  server = createServer(selfSigned(), (secured: TLSSocket) => {
    watch.noteSecured(secured);
    secured.on('error', () => {});
    secured.on('data', (bytes: Buffer) => {
      received += bytes.length;
    });
  });
  server.on('connection', (raw: Socket) => watch.add(raw));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as { readonly port: number }).port;
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

const reach = async () => {
  const raw = connectTcp(port, '127.0.0.1');
  raw.on('error', () => {});
  clients.push(raw);
  await once(raw, 'connect');
  return raw;
};

/** A client that speaks in records of so many bytes. */
const speak = async (records: number, bytesEach: number) => {
  const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  client.on('error', () => {});
  clients.push(client);
  await once(client, 'secureConnect');
  for (let record = 0; record < records && !client.destroyed; record += 1) {
    // What is written at once would share a record.
    await new Promise((resolve) => client.write(Buffer.alloc(bytesEach), resolve));
  }
  return client;
};

test('a peer that sends new keys and nothing else is left', async () => {
  const raw = await reach();
  const updates = await beginKeyUpdates(raw);
  raw.write(Buffer.concat(Array.from({ length: 1_200 }, () => updates.next())));
  await expect.poll(() => raw.destroyed).toBe(true);
});

test('one that sends a byte in each record is left, too', async () => {
  const client = await speak(2_000, 1);
  await expect.poll(() => client.resume().destroyed).toBe(true);
});

test('new keys now and then are taken, and records of ten bytes, and large ones', async () => {
  const raw = await reach();
  const updates = await beginKeyUpdates(raw);
  for (let time = 0; time < 100; time += 1) raw.write(updates.next());
  const [small, large] = [await speak(3_000, 10), await speak(100, 100_000)];
  await expect.poll(() => received).toBe(30_000 + 10_000_000);
  // One that came later is left meanwhile: all have been looked at.
  const nuisance = await speak(2_000, 1);
  await expect.poll(() => nuisance.resume().destroyed).toBe(true);
  expect([raw, small, large].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
});

test('the first record may be a large one that comes in pieces', async () => {
  const raw = await reach();
  let held: Buffer[] | undefined;
  const between = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      if (held) held.push(bytes);
      else raw.write(bytes);
      done();
    },
  });
  raw.on('data', (bytes: Buffer) => between.push(bytes));
  const client = connect({ socket: between, rejectUnauthorized: false });
  await once(client, 'secureConnect');
  await new Promise((resolve) => setImmediate(resolve));
  held = [];
  client.write(Buffer.alloc(16_000));
  await expect.poll(() => Buffer.concat(held ?? []).length).toBeGreaterThan(16_000);
  const record = Buffer.concat(held);
  raw.write(record.subarray(0, 15_900));
  const nuisance = await speak(2_000, 1);
  await expect.poll(() => nuisance.resume().destroyed).toBe(true);
  raw.write(record.subarray(15_900));
  await expect.poll(() => received).toBeGreaterThanOrEqual(16_000);
  expect(raw.destroyed).toBe(false);
  client.destroy();
});
