import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rawGet } from '../../testing/raw-request.ts';
import { startMaster, TEST_LINKS, type TestMaster } from '../../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../../testing/test-depot.ts';

/** Two entry depots that are about as near to clients; the way from both to the origin is over d2. */
const LINKS = TEST_LINKS.map((link) => {
  const ends = link.between.join();
  if (ends === 'client,d3') return { ...link, rttMs: 6, rateBps: 200e6 };
  return ends === 'd3,d2' ? { ...link, rttMs: 190 } : link;
});
const PORTS = { d1: 7001, d3: 7003 } as const;

let master: TestMaster;
let depots: TestDepot[];
beforeEach(async () => {
  master = await startMaster({ config: { links: LINKS } });
  depots = await registerDepots(master, 'd1', 'd2', 'd3');
});
afterEach(() => master.master.close());

/**
 * Where so many clients of different networks are led, that ask within a second: how many to each entry
 * depot, and how many to the origin.
 */
async function crowdOf(clients: number, firstNetwork = 1) {
  const led = { d1: 0, d3: 0, direct: 0 };
  for (let client = 0; client < clients; client += 1) {
    const { headers } = await rawGet(
      master.port,
      '/get/~size=1000000000/https/origin.example/f',
      [],
      `127.${firstNetwork}.${client}.1`,
    );
    const { hostname, port } = new URL(headers.location ?? '');
    const entry = port === `${PORTS.d1}` ? 'd1' : port === `${PORTS.d3}` ? 'd3' : 'direct';
    expect(hostname).toBe(entry === 'direct' ? 'origin.example' : '127.0.0.1');
    led[entry] += 1;
  }
  return led;
}

describe('a crowd between two heartbeats', () => {
  const uplinks = async (entryBps = 1e9) => {
    const idle = (mostBps: number) => ({ uplink: { sentBps: 0, mostBps } });
    for (const depot of depots) await depot.heartbeat(master, idle(depot.id === 'd2' ? 1e11 : entryBps));
    master.clock.advance(1);
  };

  test('is led over all depots that have as much room, not over the one that was free before it came', async () => {
    await uplinks();
    const { d1, d3 } = await crowdOf(40);
    expect(Math.min(d1, d3)).toBeGreaterThanOrEqual(10);
  });

  test('is forgotten once the depots tell what they carry', async () => {
    await uplinks();
    await crowdOf(40);
    master.clock.advance(4);
    await uplinks();
    expect(await crowdOf(1, 2)).toEqual({ d1: 1, d3: 0, direct: 0 });
  });

  test('is led to the origin where no depot would leave as much to one more', async () => {
    await uplinks(1e8);
    const { d1, d3, direct } = await crowdOf(200);
    expect(d1 + d3).toBeGreaterThan(20);
    expect(direct).toBeGreaterThan(20);
  });
});

describe('a depot whose operator has named no uplink', () => {
  const NETWORKS = Array.from({ length: 30 }, (_, index) => `198.18.${index}.0/24`);
  /** What d1 tells of 30 networks: each has so much. */
  const serve = async (goodputBps: number, retransmittedBytes: number, networks = NETWORKS) => {
    const [d1] = depots;
    const sent = { rttMs: 5, goodputBps, sentBytes: 1e7, retransmittedBytes };
    const clients = networks.map((prefix) => ({ prefix, ...sent }));
    for (const depot of depots) if (depot !== d1) await depot.heartbeat(master);
    await d1?.heartbeat(master, { activeTransfers: networks.length, clients });
    master.clock.advance(5);
  };
  const beIdle = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 5) await serve(0, 0, []);
  };

  test('gets no more downloads once all that it serves get far less than they could, until they have gone', async () => {
    for (let times = 0; times < 4; times += 1) await serve(90e6, 0);
    expect(await crowdOf(1, 1)).toEqual({ d1: 1, d3: 0, direct: 0 });
    for (let times = 0; times < 3; times += 1) await serve(3e6, 1e5);
    expect(await crowdOf(1, 2)).toEqual({ d1: 0, d3: 1, direct: 0 });
    await beIdle(300);
    expect(await crowdOf(1, 3)).toEqual({ d1: 1, d3: 0, direct: 0 });
  });

  test('is led to where a few of many that it serves are slow', async () => {
    for (let times = 0; times < 4; times += 1) await serve(90e6, 0);
    for (let times = 0; times < 3; times += 1) {
      await serve(3e6, 1e5, NETWORKS.slice(0, 10));
      await serve(90e6, 0, NETWORKS.slice(10));
    }
    expect(await crowdOf(1, 1)).toEqual({ d1: 1, d3: 0, direct: 0 });
  });
});
