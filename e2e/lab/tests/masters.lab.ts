import { afterAll, describe, expect, test } from 'vitest';
import { findNatsServer } from '../../programs/nats-server.ts';
import type { MastersLine } from '../masters/masters-line.ts';
import { runMasters } from '../masters/run-masters.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { labObstacle } from '../requirements.ts';

/** Processes start, and files come, one after the other, on a busy machine. */
const RUN_MS = 600_000;
const lacking = findNatsServer() === undefined ? 'there is no nats-server' : undefined;
const obstacle = labObstacle()?.message ?? (process.env.CI ? undefined : lacking);
afterAll(closeAllNetworks);

describe.skipIf(obstacle !== undefined)(
  `masters of three sites${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`,
  () => {
    test('that lose a NATS server, or a site, answer all the time, know everything afterwards, and no running file notices', {
      timeout: RUN_MS,
    }, async () => {
      const lines: MastersLine[] = [];
      await runMasters({
        plan: { repeats: 1, events: ['nats', 'partition', 'join'], depots: 50, links: 5 },
        file: { append: (line) => lines.push(line) },
        say: () => {},
      });
      const [nats, partition, join] = lines;
      expect(lines).toHaveLength(3);
      // How soon is a figure of the experiment, on a machine that does nothing else.
      expect(nats).toMatchObject({ event: 'nats', rightMs: expect.any(Number), backMs: expect.any(Number) });
      expect(partition).toMatchObject({ event: 'partition', rightMs: null, backMs: expect.any(Number) });
      expect(join).toMatchObject({ kind: 'join', knownDepots: 50 });
      // Those between the six real depots come on top, as far as they are measured.
      expect(join?.kind === 'join' && join.knownLinks).toBeGreaterThanOrEqual(44 * 5);
      for (const line of lines) {
        const { asked, failures } = line.elsewhere;
        expect(asked).toBeGreaterThan(0);
        expect(failures).toEqual([]);
        expect(line.running.files).toBeGreaterThan(0);
        expect(line.running.whole).toBe(line.running.files);
        if (line.kind === 'event') expect(line.there).toMatchObject({ failed: 0, failures: [] });
      }
    });
  },
);
