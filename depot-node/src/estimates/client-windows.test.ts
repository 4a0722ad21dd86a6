import { describe, expect, test } from 'vitest';
import type { TcpInfo } from '../sockets/tcp-info.ts';
import { ClientWindows } from './client-windows.ts';

const NETWORK = '198.51.100.0/24';
const RTT_MS = 40;
const WINDOW_BYTES = 150_000;
/** What a window of that size lets through. */
const FULL_BYTES_PER_MS = WINDOW_BYTES / RTT_MS;

/** What a kernel says of a connection that was held back so many of so many milliseconds. */
const info = (atMs: number, fields: Partial<TcpInfo> = {}): TcpInfo =>
  ({
    rttMs: RTT_MS,
    ackedBytes: atMs * FULL_BYTES_PER_MS,
    busyMs: atMs,
    receiverLimitedMs: atMs / 2,
    offeredWindowBytes: WINDOW_BYTES,
    mostWindowBytes: 524_280,
    ...fields,
  }) as TcpInfo;

/** What is told of a connection that was looked at at these times, where a look is `info` of its time. */
function toldOf(times: readonly number[], look: (atMs: number) => Partial<TcpInfo> = () => ({})) {
  const windows = new ClientWindows();
  const meter = windows.begin(NETWORK, info(0, look(0)), 0);
  for (const atMs of times) meter.look(info(atMs, look(atMs)), atMs);
  return windows.take().get(NETWORK);
}

describe('the window of a client', () => {
  test('is what it offers where that is full all the time and holds the connection back', () => {
    expect(toldOf([1000, 2000])).toEqual({
      windowBytes: WINDOW_BYTES,
      leastWindowBytes: WINDOW_BYTES,
      mostWindowBytes: 524_280,
    });
  });

  test.each<[string, (atMs: number) => Partial<TcpInfo>]>([
    ['it grows', (atMs) => ({ offeredWindowBytes: WINDOW_BYTES * 2 ** (atMs / 1000) })],
    ['the network holds the connection back', (atMs) => ({ receiverLimitedMs: atMs / 20 })],
    ['its application reads slowly', (atMs) => ({ ackedBytes: atMs * FULL_BYTES_PER_MS * 0.3 })],
    ['it closes again and again', (atMs) => ({ offeredWindowBytes: atMs === 1000 ? 0 : WINDOW_BYTES })],
    ['nothing was to be sent', (atMs) => ({ busyMs: Math.min(atMs, 100), receiverLimitedMs: 0 })],
    ['more is on its way than it allows', (atMs) => ({ ackedBytes: atMs * FULL_BYTES_PER_MS * 1.5 })],
    ['it was larger at first', (atMs) => ({ offeredWindowBytes: atMs === 0 ? 9e5 : WINDOW_BYTES })],
    ['the kernel tells no window', () => ({ offeredWindowBytes: undefined })],
  ])('is not told where %s', (_, look) => {
    expect(toldOf([1000, 2000], look)?.windowBytes).toBeUndefined();
  });

  test('is not told by looks that follow one another within two round trips', () => {
    const times = Array.from({ length: 30 }, (_, index) => 50 * index);
    const growing = (atMs: number) => ({ rttMs: 2000, offeredWindowBytes: WINDOW_BYTES + atMs });
    expect(toldOf(times, growing)?.windowBytes).toBeUndefined();
  });

  test('is the largest of all connections to its network, and is told once', () => {
    const windows = new ClientWindows();
    for (const offeredWindowBytes of [100_000, WINDOW_BYTES, 70_000]) {
      const meter = windows.begin(NETWORK, info(0, { offeredWindowBytes }), 0);
      for (const atMs of [1000, 2000]) meter.look(info(atMs, { offeredWindowBytes }), atMs);
    }
    expect(windows.take().get(NETWORK)?.windowBytes).toBe(WINDOW_BYTES);
    expect(windows.take().size).toBe(0);
  });

  test('is remembered for a bounded number of networks', () => {
    const windows = new ClientWindows();
    for (let network = 0; network < 3000; network += 1)
      windows.begin(`10.${network >> 8}.${network & 255}.0/24`, info(0), 0).look(info(1000), 1000);
    expect(windows.take().size).toBe(1000);
  });
});
