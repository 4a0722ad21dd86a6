import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type BreakableHost, breakDepot, mendHost } from '../faults/break-depot.ts';
import type { Network } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import type { EmulatedLink } from '../network/topology.ts';
import { labObstacle } from '../requirements.ts';

const PORT = 7000;
const link = (first: string, second: string): EmulatedLink => ({
  between: [first, second],
  rttMs: 2,
  rateBps: 100e6,
  queue: { bytes: 500_000 },
});
const TOPOLOGY = {
  name: 'a host between two neighbours',
  sites: { down: { role: 'client' }, host: { role: 'depot' }, up: { role: 'origin' } },
  links: [link('down', 'host'), link('host', 'up')],
} as const;

/** Sends to whoever asks for it, and never reads what others send: what a depot's two neighbours see of it. */
const HOST = (address: string) => `
  const server = require('node:net').createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {});
    socket.write('hello');
  });
  server.listen(${PORT}, '${address}', () => process.send('ready'));`;
/** Tells all it hears; the one upstream also sends more than is read. */
const NEIGHBOUR = (address: string, sendsBytes: number) => `
  const socket = require('node:net').connect(${PORT}, '${address}');
  socket.on('data', () => process.send('data'));
  socket.on('end', () => process.send('FIN'));
  socket.on('error', ({ code }) => process.send(code === 'ECONNRESET' || code === 'EPIPE' ? 'RST' : code));
  process.on('message', () => socket.write(Buffer.alloc(1000)));
  socket.on('connect', () => ${sendsBytes} && socket.write(Buffer.alloc(${sendsBytes})));`;

const obstacle = labObstacle();

describe.skipIf(obstacle)(`a fault${obstacle ? ` (skipped: ${obstacle.message})` : ''}`, () => {
  let network: Network;
  let host: BreakableHost;
  let down: ChildProcess;
  let up: ChildProcess;
  beforeAll(async () => {
    network = await startNetwork(TOPOLOGY, { seed: 1 });
  });
  afterAll(() => network?.close());
  beforeEach(async () => {
    const start = (site: string, script: string) =>
      network.spawn(site, [process.execPath, '-e', script], ['ignore', 'ignore', 'inherit', 'ipc']);
    const child = start('host', HOST(network.addressOf('host')));
    await once(child, 'message');
    host = {
      network,
      site: 'host',
      pid: child.pid ?? 0,
      kill: async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      },
    };
    const before = (await sentBy('up')).bytesOut;
    down = start('down', NEIGHBOUR(network.addressOf('host'), 0));
    up = start('up', NEIGHBOUR(network.addressOf('host'), 20_000));
    expect(await Promise.all([hears(down), hears(up)])).toEqual(['data', 'data']);
    // All that the one upstream sent has arrived, and nobody will read it.
    await expect.poll(async () => (await sentBy('up')).bytesOut).toBeGreaterThan(before + 20_000);
  });

  const hears = async (child: ChildProcess) => (await once(child, 'message'))[0] as string;
  const sentBy = (site: string) => network.countersOf(site, site === 'host' ? 'down' : 'host');

  test('`fin` is FIN downstream, and RST for who was still sending', async () => {
    const heard = Promise.all([hears(down), hears(up)]);
    await breakDepot('fin', host);
    expect(await heard).toEqual(['FIN', 'RST']);
  });

  test('`rst` is RST for both neighbours', async () => {
    const heard = Promise.all([hears(down), hears(up)]);
    await breakDepot('rst', host);
    expect(await heard).toEqual(['RST', 'RST']);
  });

  test('`silence` is nothing at all, until the mended host says that it has forgotten', async () => {
    const heard: string[] = [];
    for (const child of [down, up]) child.on('message', (message) => heard.push(message as string));
    await breakDepot('silence', host);
    const { packetsOut } = await sentBy('host');
    const { cutPackets } = await sentBy('down');
    down.send('write');
    // The neighbour repeats what is not acknowledged.
    await expect
      .poll(async () => (await sentBy('down')).cutPackets, { timeout: 10_000 })
      .toBeGreaterThan(cutPackets + 2);
    expect((await sentBy('host')).packetsOut).toBe(packetsOut);
    expect(heard).toEqual([]);
    await mendHost(host);
    await expect.poll(() => heard, { timeout: 20_000 }).toContain('RST');
  });
});
