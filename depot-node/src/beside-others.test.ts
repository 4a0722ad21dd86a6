import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DepotEvent } from './plane/events.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = Buffer.alloc(1_000_000, 'f');

type Transfer = Extract<DepotEvent, { type: 'transfer' }>;

describe.each(await testPlanes())(
  'with a relay of %s, an entry depot tells of a download',
  (_kind, plane) => {
    let overlay: TestOverlay;
    /** Answers that the origin has been asked for and holds back. */
    let held: ServerResponse[];
    beforeEach(async () => {
      held = [];
      overlay = await startTestOverlay(
        ['d1'],
        (request, response) => {
          if (request.url === '/held.bin') held.push(response);
          else answer(response);
        },
        plane,
      );
    });
    afterEach(() => overlay.close());

    const answer = (response: ServerResponse | undefined) =>
      response?.writeHead(200, { 'Content-Length': FILE.length }).end(FILE);
    const fetchAs = (jobId: string, path: string) =>
      fetchRaw(overlay.relayUrl(`${overlay.originUrl}/${path}`, { jobId }));
    const transferOf = async (jobId: string): Promise<Transfer> => {
      const { events } = overlay.depot('d1');
      const find = () =>
        events.find((event): event is Transfer => event.type === 'transfer' && event.jobId === jobId);
      await expect.poll(find).toBeDefined();
      const found = find();
      if (!found) throw new Error('it has not ended');
      return found;
    };

    test('which share it had of what went to its client meanwhile', async () => {
      await fetchAs('before', 'whole.bin');
      const first = fetchAs('first', 'held.bin');
      await expect.poll(() => held.length).toBe(1);
      await fetchAs('second', 'whole.bin');
      expect((await transferOf('second')).ownShare).toBe(1);
      answer(held[0]);
      await first;
      expect((await transferOf('first')).ownShare).toBe(0.5);
    });

    test('how long the origin was waited for', async () => {
      const waiting = fetchAs('thinks', 'held.bin');
      await expect.poll(() => held.length).toBe(1);
      overlay.advanceSeconds(30);
      answer(held[0]);
      await waiting;
      const { waitedMs } = await transferOf('thinks');
      expect(waitedMs).toBeGreaterThanOrEqual(30_000);
      await fetchAs('prompt', 'whole.bin');
      expect((await transferOf('prompt')).waitedMs).toBeLessThan(30_000);
    });
  },
);
