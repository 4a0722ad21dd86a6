import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ClientRtts } from './client-rtts.ts';
import { ClientTable } from './client-table.ts';
import { masterOf } from './measured-by.ts';
import { createRttReader } from './read-rtt.ts';

/** A connection from an address; its round trip is what the test says. */
const from = (remoteAddress: string): Socket =>
  Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });

function clientRtts({ site, depots = ['d1', 'd2'] }: { site?: string; depots?: string[] } = {}) {
  const clients = new ClientTable();
  const rtts = new Map<Socket, number>();
  const known = new ClientRtts({
    clients,
    site: () => site,
    isDepot: (id) => depots.includes(id),
    readRtt: (socket) => rtts.get(socket),
  });
  const socket = (address: string, rttMs: number) => {
    const made = from(address);
    rtts.set(made, rttMs);
    return made;
  };
  const rttOf = (depot: string, prefix: string) =>
    clients.known(prefix).get(masterOf(depot))?.value.rtt.value;
  return { known, clients, socket, rttOf };
}

test('a client that asks a master is known to be so far from the depot of its site', () => {
  const { known, socket, rttOf } = clientRtts({ site: 'd1' });
  known.noteClient(socket('198.51.100.7', 40), 0);
  expect(rttOf('d1', '198.51.100.0/24')).toBe(40);
  // Another one of its network says nothing new for a while.
  known.noteClient(socket('198.51.100.8', 400), 1000);
  expect(rttOf('d1', '198.51.100.0/24')).toBe(40);
  known.noteClient(socket('198.51.100.8', 50), 3_600_000);
  expect(rttOf('d1', '198.51.100.0/24')).toBeGreaterThan(40);
});

test('a master without a name of its site has the nearest depot for its own, and none that is far', () => {
  const { known, clients, socket, rttOf } = clientRtts();
  known.noteDepot('d1', socket('203.0.113.1', 30));
  known.noteClient(socket('198.51.100.7', 40), 0);
  expect(clients.size).toBe(0);
  known.noteDepot('d2', socket('203.0.113.2', 0.4));
  known.noteClient(socket('192.0.2.7', 40), 0);
  expect(rttOf('d2', '192.0.2.0/24')).toBe(40);
});

test('a client on the same machine, and a site without its depot, say nothing', () => {
  const { known, clients, socket } = clientRtts({ site: 'd1' });
  known.noteClient(socket('127.0.0.1', 0.02), 0);
  known.noteClient(socket('::1', 0.02), 0);
  expect(clients.size).toBe(0);
  const other = clientRtts({ site: 'd9' });
  other.known.noteClient(other.socket('198.51.100.7', 40), 0);
  expect(other.clients.size).toBe(0);
});

test.runIf(process.platform === 'linux')(
  'the kernel tells the round trip of an accepted connection, and nothing of a closed one',
  async ({ onTestFinished }) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (!address || typeof address === 'string') throw new Error('no port');
    const client = connect(address.port, '127.0.0.1');
    onTestFinished(() => void server.close());
    const [accepted] = (await once(server, 'connection')) as [Socket];
    const readRtt = createRttReader();
    const rttMs = readRtt(accepted);
    expect(rttMs).toBeGreaterThan(0);
    expect(rttMs).toBeLessThan(10_000);
    accepted.destroy();
    client.destroy();
    expect(readRtt(accepted)).toBeUndefined();
    expect(createRttReader('darwin')(client)).toBeUndefined();
  },
);
