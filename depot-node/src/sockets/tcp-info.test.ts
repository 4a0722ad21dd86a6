import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { descriptorUnder } from './held-descriptor.ts';
import { createTcpInfoReader, decodeTcpInfo } from './tcp-info.ts';

/** The struct of Linux 6.18. */
const FULL_BYTES = 280;

/** Where each field ends; a shorter struct does not have it. */
const ENDS = {
  mostWindowBytes: 7,
  mssBytes: 20,
  unackedSegments: 28,
  sinceAckMs: 60,
  rttMs: 72,
  congestionWindowSegments: 84,
  receiverRttMs: 96,
  retransmittedSegments: 104,
  maxPacingBps: 120,
  ackedBytes: 128,
  receivedBytes: 136,
  notSentBytes: 148,
  minRttMs: 152,
  sentSegments: 160,
  deliveryRateBps: 168,
  busyMs: 176,
  receiverLimitedMs: 184,
  bufferLimitedMs: 192,
  deliveredSegments: 196,
  sentBytes: 208,
  retransmittedBytes: 216,
  offeredWindowBytes: 232,
} as const;

describe('decoding struct tcp_info', () => {
  test('gives each field exactly where the struct is long enough, whatever its bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: FULL_BYTES, maxLength: FULL_BYTES }),
        fc.integer({ min: 0, max: FULL_BYTES }),
        (content, sizeBytes) => {
          // No field at a value that stands for none.
          const bytes = content.map((byte) => (byte % 254) + 1);
          // Both ends agreed on something.
          bytes[5] = (bytes[5] ?? 0) | 1;
          const info = decodeTcpInfo(new DataView(bytes.buffer), sizeBytes);
          for (const [field, end] of Object.entries(ENDS)) {
            const value = info[field as keyof typeof ENDS];
            if (sizeBytes < end) expect(value, field).toBeUndefined();
            else expect(value, field).toBeGreaterThan(0);
          }
          const cut = decodeTcpInfo(new DataView(bytes.slice(0, sizeBytes).buffer), sizeBytes);
          expect(cut).toEqual(info);
        },
      ),
    );
  });

  test('takes the units of the kernel and its marks for no value', () => {
    const bytes = new DataView(new ArrayBuffer(FULL_BYTES));
    bytes.setUint8(7, 1);
    bytes.setUint32(68, 12_500, true);
    bytes.setUint32(76, 0x7fff_ffff, true);
    bytes.setBigUint64(112, 0xffff_ffff_ffff_ffffn, true);
    bytes.setUint32(148, 0xffff_ffff, true);
    bytes.setBigUint64(160, 125_000_000n, true);
    bytes.setBigUint64(176, 2_000_000n, true);
    expect(decodeTcpInfo(bytes, FULL_BYTES)).toMatchObject({
      rttMs: 12.5,
      isStartingUp: true,
      maxPacingBps: undefined,
      minRttMs: undefined,
      deliveryRateBps: 1_000_000_000,
      isAppLimited: true,
      receiverLimitedMs: 2000,
    });
    bytes.setUint32(92, 80_500, true);
    expect(decodeTcpInfo(bytes, FULL_BYTES).receiverRttMs).toBeUndefined();
    bytes.setUint8(5, 1);
    expect(decodeTcpInfo(bytes, FULL_BYTES).receiverRttMs).toBe(80.5);
    bytes.setUint8(6, 0x73);
    for (const [options, mostBytes] of [
      [0, undefined],
      [2, 65_535],
      [6, 8 * 65_535],
    ] as const) {
      bytes.setUint8(5, options);
      expect(decodeTcpInfo(bytes, FULL_BYTES).mostWindowBytes).toBe(mostBytes);
    }
    bytes.setUint32(76, 150, true);
    expect(decodeTcpInfo(bytes, FULL_BYTES).isStartingUp).toBe(false);
    expect(decodeTcpInfo(bytes, 78).isStartingUp).toBe(false);
  });
});

const access = openKernel();

describe.runIf(access.kernel)('a connection over loopback (Linux with koffi)', () => {
  test('tells its round trip, and every byte it sent and received', async () => {
    if (!access.kernel) return;
    const read = createTcpInfoReader(access.kernel);
    const server = createServer((peer) => peer.pipe(peer));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket: Socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    expect(read(descriptorUnder(socket) ?? -1)?.isStartingUp).toBe(true);
    const sizeBytes = 300_000;
    let receivedBytes = 0;
    const all = new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        receivedBytes += chunk.length;
        if (receivedBytes === sizeBytes) resolve();
      });
    });
    socket.write(Buffer.alloc(sizeBytes));
    await all;
    const info = read(descriptorUnder(socket) ?? -1);
    expect(info).toMatchObject({ state: 1, receivedBytes: sizeBytes, notSentBytes: 0 });
    expect(info?.sentBytes).toBeGreaterThanOrEqual(sizeBytes);
    // The acknowledgement of the last bytes may have come with what came back.
    expect(info?.ackedBytes).toBeGreaterThanOrEqual(sizeBytes);
    expect(info?.deliveredSegments).toBeGreaterThan(1);
    expect(info?.rttMs).toBeGreaterThan(0);
    expect(info?.minRttMs).toBeLessThanOrEqual(info?.rttMs ?? 0);
    expect(info?.congestionWindowSegments).toBeGreaterThan(1);
    expect(info?.offeredWindowBytes).toBeGreaterThan(1000);
    expect(info?.offeredWindowBytes).toBeLessThanOrEqual(info?.mostWindowBytes ?? 0);
    socket.destroy();
    server.close();
    expect(read(-1)).toBeUndefined();
  });
});
