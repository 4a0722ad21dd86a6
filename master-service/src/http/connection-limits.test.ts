import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import { MemoryDepotStore } from '../testing/memory-depot-store.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';

/** Depots come from 127.0.0.1 here; these are strangers, the first one in the network of the depots. */
const [NEIGHBOUR, STRANGER, OTHER] = ['127.0.0.9', '127.0.1.9', '127.0.2.9'] as const;
const LIMITS = { connections: 20, connectionsPerNetwork: 15, waitingPerNetwork: 10 };

let master: TestMaster;
const held: Socket[] = [];
afterEach(async () => {
  for (const socket of held.splice(0)) socket.destroy();
  await master.master.close();
});

/** Opens connections with half a head each; gives how many the master keeps, once it has seen them all. */
async function siege(address: string, connections: number): Promise<number> {
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect({ port: master.port, host: '127.0.0.1', localAddress: address });
    socket.on('error', () => {});
    socket.write('GET /healthz HTTP/1.1\r\nHost: x');
    held.push(socket);
    return socket;
  });
  const before = master.events.filter(({ type }) => type === 'connection-refused').length;
  const refused = () => master.events.filter(({ type }) => type === 'connection-refused').length - before;
  await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));
  // A whole exchange from elsewhere comes after everything that was connected before it.
  await answerTo('127.0.77.9');
  return connections - refused();
}

/** What it gets, be it cut off before or after it has asked. */
async function answerTo(address: string): Promise<string> {
  const socket = connect({ port: master.port, host: '127.0.0.1', localAddress: address });
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return text(socket).catch(() => '');
}

test('half heads from one network keep nobody out, also not depots of that network', async () => {
  master = await startMaster({ config: { limits: LIMITS } });
  const [depot] = await registerDepots(master, 'd1');
  expect(await siege(NEIGHBOUR, 15)).toBe(10);
  expect(await answerTo(NEIGHBOUR)).toBe('');
  expect(await answerTo(STRANGER)).toContain('200 OK');
  expect(await depot?.heartbeat(master)).toMatchObject({ status: 200 });
  expect(master.events).toContainEqual({
    type: 'connection-refused',
    bound: 'network-waiting',
    network: '127.0.0.0/24',
  });
  const metrics = await (await fetch(`${master.url}/metrics`)).text();
  expect(metrics).toMatch(/longhaul_master_connections_refused_total\{bound="network-waiting"\} \d/);
});

test('half heads from everywhere leave room for depots, also after a restart of the master', async () => {
  const depotStore = new MemoryDepotStore();
  master = await startMaster({ depotStore });
  const [depot] = await registerDepots(master, 'd1');
  await master.master.close();
  master = await startMaster({ depotStore, config: { limits: LIMITS } });
  await siege(STRANGER, 10);
  await siege(OTHER, 10);
  expect(await answerTo('127.0.3.9')).toBe('');
  expect(await depot?.heartbeat(master)).toMatchObject({ status: 200 });
});

/** Sends a depot's heartbeat, as it was signed, from an address; gives the status. */
async function beatFrom(
  address: string,
  heartbeat: ReturnType<TestDepot['signedHeartbeat']>,
): Promise<unknown> {
  const { path, body, headers } = heartbeat;
  const sent = request({
    port: master.port,
    localAddress: address,
    method: 'POST',
    path,
    headers,
    agent: false,
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  answer.resume();
  return answer.statusCode;
}

test('heartbeats that somebody has recorded keep no room for him at a master that has not heard of them, but for their depot', async ({
  onTestFinished,
}) => {
  const meeting: InProcessMeeting = new Set();
  const other = await startMaster({ bus: new InProcessBus('other', meeting) });
  onTestFinished(() => other.master.close());
  const { clock } = other;
  master = await startMaster({ bus: new InProcessBus('one', meeting), clock, config: { limits: LIMITS } });
  const [depot] = (await registerDepots(other, 'd1')) as [TestDepot];
  const known = async () => (await fetch(`${master.url}/v1/status`)).text();
  await expect.poll(known).toContain('"d1"');
  for (let times = 0; times < 3; times += 1) {
    clock.advance(5);
    const heartbeat = depot.signedHeartbeat(other);
    expect(await beatFrom('127.0.5.9', heartbeat)).toBe(200);
    await depot.heartbeat(other);
    const beats = () => other.events.filter(({ type }) => type === 'depot-heard').length;
    await expect.poll(beats).toBe(times + 1);
  }
  await siege(STRANGER, 10);
  await siege(OTHER, 10);
  expect(await answerTo('127.0.5.9')).toBe('');
  // That connection of the depot was never marked here before: it is the address that it has proved.
  for (const socket of held.splice(0)) socket.destroy();
  await expect.poll(() => answerTo('127.0.3.9')).toContain('200 OK');
  expect(await beatFrom('127.0.0.1', depot.signedHeartbeat(other))).toBe(200);
  await siege(STRANGER, 10);
  await siege(OTHER, 10);
  expect(await answerTo('127.0.0.1')).toContain('200 OK');
});

test('a depot that asks from another address than it has proved has its room where it is heard', async () => {
  master = await startMaster({ config: { limits: LIMITS } });
  const [depot] = (await registerDepots(master, 'd1')) as [TestDepot];
  expect(await beatFrom('127.0.5.9', depot.signedHeartbeat(master))).toBe(200);
  await siege(STRANGER, 10);
  await siege(OTHER, 10);
  expect(await answerTo('127.0.5.9')).toContain('200 OK');
});

test('a depot that is heard from ever more addresses has room at one of them, so that others keep theirs', async () => {
  master = await startMaster({ config: { limits: { ...LIMITS, connections: 60 } } });
  const [depot] = (await registerDepots(master, 'd1')) as [TestDepot];
  const addresses = Array.from({ length: 7 }, (_, at) => `127.0.5.${at + 1}`);
  for (const address of addresses) expect(await beatFrom(address, depot.signedHeartbeat(master))).toBe(200);
  let kept = 0;
  for (const address of addresses) kept += await siege(address, 10);
  expect(kept, 'those of one network, and of the newest address').toBe(20);
  expect(await answerTo(STRANGER)).toContain('200 OK');
  expect(await depot.heartbeat(master)).toMatchObject({ status: 200 });
});
