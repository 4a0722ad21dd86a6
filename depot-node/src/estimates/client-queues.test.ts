import { describe, expect, test } from 'vitest';
import type { TcpInfo } from '../sockets/tcp-info.ts';
import { ClientQueues } from './client-queues.ts';

const NETWORK = '198.51.100.0/24';
const CLIENT = '198.51.100.7';

/** What a kernel says of a connection that sends a megabyte in a second. */
const info = (atMs: number, fields: Partial<TcpInfo> = {}): TcpInfo =>
  ({ rttMs: 40, minRttMs: 5, ackedBytes: 1000 * atMs, isStartingUp: false, ...fields }) as TcpInfo;

/** What is told of connections to one client that were looked at each second, where a look is `info` of its time. */
function toldOf(look: (atMs: number) => Partial<TcpInfo>, queues = new ClientQueues(), address = CLIENT) {
  const meter = queues.begin(address, NETWORK, info(0, look(0)), 0);
  for (const atMs of [1000, 2000]) meter.look(info(atMs, look(atMs)), atMs);
  return queues.take().get(NETWORK);
}

describe('what waits before a client', () => {
  test('is what its round trip is longer by while it is busy, beyond what its sender makes itself', () => {
    expect(toldOf(() => ({}))).toBe(25);
    expect(toldOf(() => ({ rttMs: 14 }))).toBe(0);
    expect(toldOf(() => ({ rttMs: 500_000 }))).toBe(10_000);
    expect(toldOf(() => ({ minRttMs: 60, rttMs: 120 }))).toBe(0);
  });

  test.each<[string, (atMs: number) => Partial<TcpInfo>]>([
    ['it starts', () => ({ isStartingUp: true })],
    ['it has just started', (atMs) => ({ isStartingUp: atMs < 2000 })],
    ['it carries little', () => ({ ackedBytes: 0 })],
    ['the kernel knows no shortest round trip', () => ({ minRttMs: undefined })],
  ])('is not told where %s', (_, look) => {
    expect(toldOf(look)).toBeUndefined();
  });

  test('is held against the shortest round trip of that client of late, not of its neighbours', () => {
    const queues = new ClientQueues();
    queues.noteRtt('198.51.100.9', 2, 0);
    expect(toldOf(() => ({ minRttMs: 30, rttMs: 45 }), queues)).toBe(0);
    queues.noteRtt(CLIENT, 4, 0);
    expect(toldOf(() => ({ minRttMs: 30, rttMs: 45 }), queues)).toBe(32);
    const meter = queues.begin(CLIENT, NETWORK, info(0), 4_000_000);
    meter.look(info(1000, { minRttMs: 30, rttMs: 45 }), 4_001_000);
    expect(queues.take().get(NETWORK)).toBe(0);
  });

  test('is the shortest wait of a network, and is told once', () => {
    const queues = new ClientQueues();
    for (const [client, rttMs] of [
      ['198.51.100.7', 90],
      ['198.51.100.8', 30],
    ] as const) {
      const meter = queues.begin(client, NETWORK, info(0), 0);
      meter.look(info(1000, { rttMs }), 1000);
    }
    expect(queues.take().get(NETWORK)).toBe(15);
    expect(queues.take().size).toBe(0);
  });
});
