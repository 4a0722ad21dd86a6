import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { NO_QUEUE } from './client-queue.ts';
import { ClientRtts } from './client-rtts.ts';
import { ClientTable } from './client-table.ts';
import { masterOf } from './measured-by.ts';
import { createRttReader } from './read-rtt.ts';

/** A connection from an address; its round trip is what the test says. */
const from = (remoteAddress: string): Socket =>
  Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });

function clientRtts({
  site,
  depots = ['d1', 'd2'],
  clients = new ClientTable(),
}: {
  site?: string;
  depots?: string[];
  clients?: ClientTable;
} = {}) {
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

describe('clients whose handshakes take longer than the shortest one', () => {
  /** Handshakes of one client, a few seconds apart. */
  const shake = (
    { known, socket }: Pick<ReturnType<typeof clientRtts>, 'known' | 'socket'>,
    address: string,
    rttsMs: readonly number[],
    fromMs = 0,
  ) => {
    for (const [place, rttMs] of rttsMs.entries())
      known.noteClient(socket(address, rttMs), fromMs + place * 6000);
  };
  const FULL = [25, 29, 11, 28, 8, 30, 26, 4, 31];

  test('wait before their line where most do', () => {
    const made = clientRtts({ site: 'd1' });
    shake(made, '198.51.100.7', FULL);
    const queue = () => made.clients.queue('198.51.100.0/24', 60_000);
    expect(queue()).toMatchObject({ isFilled: true });
    expect(queue().queueMs).toBeGreaterThan(8);
    expect(made.rttOf('d1', '198.51.100.0/24')).toBeLessThan(20);
    // A neighbour who waits for nothing has the line that is told of, and who waits no more.
    shake(made, '198.51.100.7', Array(9).fill(5), 60_000);
    expect(queue()).toEqual(NO_QUEUE);
  });

  test('wait all evening, and no more soon after', () => {
    const made = clientRtts({ site: 'd1' });
    made.known.noteClient(made.socket('198.51.100.7', 4), 0);
    const filledAt = (minute: number) => made.clients.queue('198.51.100.0/24', minute * 60_000).isFilled;
    for (let minute = 2; minute <= 180; minute += 2) {
      made.known.noteClient(made.socket('198.51.100.7', 26), minute * 60_000);
      if (minute >= 10) expect(filledAt(minute)).toBe(true);
    }
    expect(filledAt(195)).toBe(false);
  });

  test.each([
    ['this one, started anew', 'd1'],
    ['one of another site', 'd2'],
  ])('wait no more where a master says so: %s', (_, site) => {
    const made = clientRtts({ site: 'd1' });
    shake(made, '198.51.100.7', FULL);
    const other = clientRtts({ site, clients: made.clients });
    shake(other, '198.51.100.7', [5, 5, 6, 5, 5, 6, 5], 60_000);
    expect(made.clients.queue('198.51.100.0/24', 110_000)).toEqual(NO_QUEUE);
  });

  test('wait no longer than a queue holds, however late they are acknowledged', () => {
    const made = clientRtts({ site: 'd1' });
    shake(made, '198.51.100.7', [5, 5000, 5000, 5000, 5000, 5000]);
    expect(made.clients.queue('198.51.100.0/24', 60_000).queueMs).toBeLessThanOrEqual(200);
  });

  test.each([
    ['now and then', [20, 21, 90, 22, 20, 85, 21, 20]],
    ['by a few milliseconds', [20, 23, 25, 22, 24, 25, 21, 24]],
    ['by a small part of a long way', [180, 200, 215, 197, 214, 216, 190, 215]],
    ['only three times', [8, 30, 29]],
  ])('do not wait where they do %s', (_, rttsMs) => {
    const made = clientRtts({ site: 'd1' });
    shake(made, '198.51.100.7', rttsMs);
    expect(made.clients.queue('198.51.100.0/24', 60_000)).toEqual(NO_QUEUE);
  });

  test('are looked at once for each connection, and once a second', () => {
    const made = clientRtts({ site: 'd1' });
    made.known.noteClient(made.socket('198.51.100.7', 5), 0);
    const kept = made.socket('198.51.100.7', 30);
    for (let second = 1; second < 9; second += 1) made.known.noteClient(kept, second * 1000);
    for (let burst = 0; burst < 9; burst += 1)
      made.known.noteClient(made.socket('198.51.100.7', 30), 10_000 + burst);
    expect(made.clients.queue('198.51.100.0/24', 11_000)).toEqual(NO_QUEUE);
  });

  test('wait before the line of the master where those of other networks do', () => {
    const made = clientRtts({ site: 'd1' });
    const networks = ['192.0.2', '198.51.100', '203.0.113', '198.18.0', '198.18.1', '198.18.2'];
    for (const network of networks) shake(made, `${network}.7`, FULL);
    const filled = networks.filter((network) => made.clients.queue(`${network}.0/24`, 60_000).isFilled);
    // Before others have told of theirs it is taken for the first ones'.
    expect(filled).toEqual(networks.slice(0, 3));
    for (const network of networks) shake(made, `${network}.7`, FULL, 60_000);
    expect(networks.some((network) => made.clients.queue(`${network}.0/24`, 120_000).isFilled)).toBe(false);
    // Hours later there is one that waits, beside some whose radio links scatter.
    for (const network of networks.slice(0, 4)) shake(made, `${network}.7`, [20, 27, 27, 28, 27], 7_200_000);
    shake(made, '198.18.3.7', FULL, 7_200_000);
    expect(made.clients.queue('198.18.3.0/24', 7_260_000).isFilled).toBe(true);
  });
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
