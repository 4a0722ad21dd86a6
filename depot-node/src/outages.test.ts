import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FaultyOrigin } from './testing/faulty-origin.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { freePort } from './testing/saboteur.ts';
import { closeServer } from './testing/test-master.ts';

const FILE_BYTES = 1_500_000;
const FIRST_BYTES = 700_000;
const TRIES = 2;
const REPAIR_SECONDS = 0.5;
/** Entry depots first; then those that carry. */
const DEPOTS: Readonly<Record<string, object>> = {
  d1: { failover: { tries: TRIES, repairSeconds: REPAIR_SECONDS } },
  brief: { failover: { repairSeconds: 0.2, outageSeconds: 1 } },
  'no-tries': { failover: { tries: 0 } },
  d2: {},
  d3: {},
};
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a transfer whose origin is out of reach', () => {
  let overlay: TestOverlay;
  let origin: FaultyOrigin;
  let server: Server;
  let port: number;

  beforeAll(async () => {
    origin = new FaultyOrigin(FILE_BYTES);
    port = await freePort();
    const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
    overlay = await startTestOverlay([], () => undefined, undefined, { config: { addresses } });
    for (const [id, config] of Object.entries(DEPOTS)) await overlay.addDepot(id, config);
  });
  afterAll(async () => {
    await closeServer(server);
    await overlay.close();
  });
  beforeEach(async () => {
    origin.begin();
    for (const id of Object.keys(DEPOTS)) overlay.depot(id).events.length = 0;
    if (!server?.listening) await listen();
  });

  async function listen(): Promise<void> {
    server = createServer(origin.listener).listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  /** A download that breaks when its origin takes no connections any more. */
  async function breakOff(entry: string) {
    origin.faults = [{ how: 'reset', at: FIRST_BYTES }];
    origin.onAnswer = () => server.close();
    const chains = [
      [entry, 'd2'],
      [entry, 'd3'],
    ];
    const answer = fetchRaw(overlay.relayUrl(`http://127.0.0.1:${port}${origin.path}`, { chains }, entry));
    await once(server, 'close');
    origin.onAnswer = undefined;
    return answer;
  }
  const eventsOf = (id: string, type: string) =>
    overlay.depot(id).events.filter((event) => event.type === type);
  const codesOf = (id: string) =>
    overlay.depot(id).events.flatMap((event) => (event.type === 'refusal' ? [event.code] : []));
  /** Until the origin was tried more often than if somebody had answered. */
  async function triedOn(): Promise<void> {
    await expect
      .poll(() => eventsOf('d1', 'chain-failed').length, { timeout: 10_000 })
      .toBeGreaterThan(TRIES);
  }

  test('goes on when that is there again, however often and long nobody answered meanwhile', async () => {
    const answer = breakOff('d1');
    await triedOn();
    await listen();
    const { status, broken, body } = await answer;
    expect({ status, broken }).toEqual({ status: 200, broken: undefined });
    expect(hash(body)).toBe(hash(origin.file));
    const [failover] = eventsOf('d1', 'failover');
    expect(failover?.type === 'failover' && failover.seconds).toBeGreaterThan(REPAIR_SECONDS);
  });

  test('is given up by tries as any other, when what is there then says that there is no rest', async () => {
    const answer = breakOff('d1');
    await triedOn();
    origin.ranges.length = 0;
    origin.faults = Array.from({ length: 50 }, () => ({ how: 'gone' }));
    await listen();
    const { broken, body } = await answer;
    expect(broken).toBe('ECONNRESET');
    expect(hash(body)).toBe(hash(origin.file.subarray(0, body.length)));
    expect(origin.ranges.length).toBeLessThanOrEqual(TRIES);
  });

  test.each(['brief', 'no-tries'])('is given up earlier where the operator says so: %s', async (entry) => {
    const { broken, body } = await breakOff(entry);
    expect(broken).toBe('ECONNRESET');
    expect(hash(body)).toBe(hash(origin.file.subarray(0, body.length)));
    await expect.poll(() => codesOf(entry)).toEqual(['ways-used-up']);
  });
});
