import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openKernel } from './kernel/open-kernel.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const { kernel } = openKernel();
const FILE = Buffer.alloc(1_000_000, 'f');

describe.skipIf(!kernel).each(await testPlanes())('with a relay of %s,', (_kind, plane) => {
  let overlay: TestOverlay;
  beforeEach(async () => {
    overlay = await startTestOverlay(
      ['d1', 'd2'],
      (_, response) => response.writeHead(200, { 'Content-Length': FILE.length }).end(FILE),
      plane,
    );
  });
  afterEach(() => overlay.close());

  test('every depot of a chain tells of each leg of a download what the kernel saw', async () => {
    await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/whole.bin`));
    const event = async (depot: string, type: string) => {
      const { events } = overlay.depot(depot);
      await expect.poll(() => events.filter((one) => one.type === type)).toHaveLength(1);
      return events.find((one) => one.type === type);
    };
    const atLeast = expect.toSatisfy((bytes: number) => bytes >= FILE.length) as unknown;
    expect(await event('d1', 'transfer')).toMatchObject({
      legs: [
        { legClass: 'client', connections: 1, sentBytes: atLeast, retransmittedBytes: expect.any(Number) },
        { legClass: 'depot', depot: 'd2', connections: 1, receivedBytes: expect.any(Number) },
      ],
    });
    expect(await event('d2', 'tunnel')).toMatchObject({
      legs: [
        { legClass: 'depot', depot: 'd1', connections: 1, sentBytes: atLeast },
        { legClass: 'origin', connections: 1, minRttMs: expect.any(Number) },
      ],
    });
  });
});
