import { setTimeout as delay } from 'node:timers/promises';
import { formatBps, formatBytes, SEGMENT_BYTES } from '@longhaul/shared';
import { FRAME_OVERHEAD_BYTES, type LossModel } from '../emulator/link-settings.ts';
import { lossCountSigma } from '../emulator/loss-process.ts';
import { DEVICE_QUEUE_PACKETS } from '../network/lay-network.ts';
import { lossRateOf } from '../network/link-settings-of.ts';
import { startNetwork } from '../network/start-network.ts';
import type { Topology } from '../network/topology.ts';
import { LATE_MS } from '../report/cells.ts';
import { median, quantile } from '../results/statistics.ts';
import { PROBE_HEADERS_BYTES, Probes } from './probes.ts';
import type { SelfTestLine } from './self-test-line.ts';

/** What may go wrong by a stall of the machine is tried so often before it counts. */
const ATTEMPTS = 3;
/** Of round-trip times: 2 % of what is set, and 0.3 ms for the kernel, two programs and the emulator. */
const RTT_TOLERANCE_SHARE = 0.02;
const RTT_TOLERANCE_MS = 0.3;
const RATE_TOLERANCE_SHARE = 0.02;
/** Share of their ceiling that four links of 1 Gbit/s in series carry at least. */
const SERIES_SHARE = 0.9;
const SERIES_RATE_BPS = 1e9;
const LOSS_SIGMAS = 3;
const LOSS_PACKETS = 20_000;
/** What a round trip takes at most where the link has no delay: a machine that is later than that measures nothing. */
const MOST_OWN_MS = 6;
const SEED_PACKETS = 3000;
const QUEUE_RATE_BPS = 10e6;
const QUEUE_BYTES = 100_000;
const QUEUE_PROBE_BYTES = 1400;
/** Packets that the link sends while the burst is being made: about 7 ms. */
const SENT_MEANWHILE = 6;
const JITTER_MS = 10;
const JITTER_PROBES = 200;
/** No packet meets the one before. */
const JITTER_INTERVAL_MS = JITTER_MS + 5;
/** Packets beyond what a device holds. */
const EXCESS_PACKETS = 1000;
/** What connections of the check before may still send. */
const OTHER_PACKETS = 20;
const DEVICE_DEADLINE_MS = 5000;
const LOOK_MS = 20;
/** Of all packets on an Ethernet link with MTU 1500, the share of bytes that TCP payload has. */
const PAYLOAD_SHARE = SEGMENT_BYTES / (1500 + FRAME_OVERHEAD_BYTES);
/** Larger than any window of the senders: no packet is dropped, and the rate is the link's own. */
const LARGE_QUEUE = { bytes: 16e6 } as const;

/** Bursts of 5 packets on average, 2 % of all packets. */
const BURSTS: LossModel = {
  kind: 'gilbert-elliott',
  toBad: 0.01,
  toGood: 0.2,
  lossInGood: 0.0005,
  lossInBad: 0.4,
};
const LOSSES: readonly LossModel[] = [
  { kind: 'independent', rate: 0.001 },
  { kind: 'independent', rate: 0.01 },
  { kind: 'independent', rate: 0.1 },
  BURSTS,
];

/** Sites in a row with alike links between them. */
export function rowOfSites(links: number, rttMs: number, rateBps: number): Topology {
  const names = Array.from({ length: links + 1 }, (_, index) => `s${index}`);
  return {
    name: `${links} links in a row`,
    sites: Object.fromEntries(
      names.map((name, index) => [name, { role: index === 0 || index === links ? 'traffic' : 'router' }]),
    ),
    links: names
      .slice(1)
      .map((name, index) => ({ between: [`s${index}`, name], rttMs, rateBps, queue: LARGE_QUEUE })),
  };
}

/** Holds the emulator against its promises on this machine, in about a minute. Needs root and TUN. */
export async function selfTest(): Promise<SelfTestLine[]> {
  const network = await startNetwork(rowOfSites(1, 20, 100e6), { seed: 1 });
  try {
    const probes = await Probes.start(network, 's0', 's1');
    return [
      ...(await checkRoundTrips(probes)),
      ...(await checkLosses(probes)),
      ...(await checkSeeds(probes)),
      ...(await checkQueue(probes)),
      ...(await checkJitter(probes)),
      ...(await checkRates(probes)),
      await checkDeviceQueue(probes),
      ...(await checkSeries(300e6)),
      ...(await checkSeries(500e6)),
      ...(await checkSeries(1e9)),
    ];
  } finally {
    await network.close();
  }
}

/** What the machine takes of itself to wake the programs on a packet's way, and how much that varies. */
export interface OwnTime {
  readonly leastMs: number;
  /** Of nine in ten, above the least. */
  readonly spreadMs: number;
}

/**
 * Measures that with a link that has no delay: a machine that shares its processors is late by milliseconds
 * at times.
 */
export async function measureOwnTime(probes: Probes): Promise<OwnTime> {
  await probes.setLink('both', { delayMs: 0, loss: { kind: 'none' } });
  const rttsMs = (await rttsOf(probes, 10)).filter((rttMs) => rttMs !== null);
  const leastMs = quantile(rttsMs, 0.1);
  return { leastMs, spreadMs: quantile(rttsMs, 0.9) - leastMs };
}

/** Round-trip times of 20 and 100 ms: medians of small packets, less what the machine takes of itself. */
export async function checkRoundTrips(probes: Probes): Promise<SelfTestLine[]> {
  const mostOwnMs = await attempt(
    async () => {
      const own = await measureOwnTime(probes);
      return own.leastMs + own.spreadMs;
    },
    (ms) => ms <= MOST_OWN_MS,
  );
  const rows: SelfTestLine[] = [
    {
      check: 'round trip without delay, nine in ten',
      expected: `at most ${MOST_OWN_MS} ms`,
      measured: `${mostOwnMs.toFixed(2)} ms`,
      isWithin: mostOwnMs <= MOST_OWN_MS,
    },
  ];
  for (const rttMs of [20, 100]) {
    const { measuredMs, toleranceMs } = await attempt(
      async () => {
        const own = await measureOwnTime(probes);
        await probes.setLink('both', { delayMs: rttMs / 2 });
        const rttsMs = (await rttsOf(probes, 10)).filter((value) => value !== null);
        const tolerance = rttMs * RTT_TOLERANCE_SHARE + RTT_TOLERANCE_MS + own.spreadMs;
        return { measuredMs: median(rttsMs) - own.leastMs, toleranceMs: tolerance };
      },
      (seen) => Math.abs(seen.measuredMs - rttMs) <= seen.toleranceMs,
    );
    rows.push({
      check: `round trip of ${rttMs} ms`,
      expected: `${rttMs} ms within ${toleranceMs.toFixed(1)} ms, beside what the machine takes without delay`,
      measured: `${measuredMs.toFixed(2)} ms`,
      isWithin: Math.abs(measuredMs - rttMs) <= toleranceMs,
    });
  }
  return rows;
}

/** A hundred small packets there and back. */
function rttsOf(probes: Probes, intervalMs: number): Promise<(number | null)[]> {
  return probes.probe({ count: 100, batch: 1, intervalMs });
}

/** Losses of each model, counted in the emulator: a receiver's own socket may lose some more. */
export async function checkLosses(probes: Probes): Promise<SelfTestLine[]> {
  const rows: SelfTestLine[] = [];
  await probes.setLink('both', { delayMs: 1, rateBps: SERIES_RATE_BPS });
  for (const loss of LOSSES) {
    await probes.network.reseed(LOSS_PACKETS);
    await probes.setLink('forward', { loss });
    const before = await probes.counters();
    await probes.probe({ count: LOSS_PACKETS, batch: 100, intervalMs: 5 });
    const after = await probes.counters();
    const sent = after.packetsIn - before.packetsIn;
    const lost = after.lostPackets - before.lostPackets;
    const tolerance = LOSS_SIGMAS * lossCountSigma(loss, sent);
    const expected = lossRateOf(loss) * sent;
    rows.push({
      check: `${loss.kind === 'independent' ? 'independent' : 'bursty'} loss of ${percent(lossRateOf(loss))}`,
      expected: `${expected.toFixed(0)} of ${sent} packets within ${tolerance.toFixed(0)}`,
      measured: `${lost}`,
      isWithin: sent >= LOSS_PACKETS && Math.abs(lost - expected) <= tolerance,
    });
  }
  return rows;
}

/** The same seed loses the same packets, another seed others. */
export async function checkSeeds(probes: Probes): Promise<SelfTestLine[]> {
  await probes.setLink('forward', { delayMs: 1, loss: BURSTS, rateBps: SERIES_RATE_BPS });
  const lostWith = async (seed: number) => {
    await probes.network.reseed(seed);
    const rttsMs = await probes.probe({ count: SEED_PACKETS, batch: 50, intervalMs: 5 });
    return rttsMs.flatMap((rttMs, number) => (rttMs === null ? [number] : [])).join(' ');
  };
  // Again when a program's own socket overflowed, which looks like a loss.
  const same = await attempt(
    async () => [await lostWith(7), await lostWith(7)],
    ([first, second]) => first === second,
  );
  const other = await lostWith(8);
  const describe = (numbers: string | undefined) => `${(numbers ?? '').split(' ').length} lost`;
  return [
    {
      check: 'same seed',
      expected: 'the same packets lost',
      measured: `${same.map(describe).join(', ')}, ${same[0] === same[1] ? 'the same' : 'different ones'}`,
      isWithin: same[0] === same[1] && same[0] !== '',
    },
    {
      check: 'another seed',
      expected: 'other packets lost',
      measured: `${describe(other)}, ${other === same[0] ? 'the same' : 'others'}`,
      isWithin: other !== same[0],
    },
  ];
}

/** Rates of 50 and 300 Mbit/s: one TCP flow with no losses. */
export async function checkRates(probes: Probes): Promise<SelfTestLine[]> {
  const rows: SelfTestLine[] = [];
  for (const rateBps of [50e6, 300e6]) {
    await probes.setLink('both', { delayMs: 10, rateBps, loss: { kind: 'none' } });
    const ceilingBps = rateBps * PAYLOAD_SHARE;
    const isWithin = (bps: number) => Math.abs(bps - ceilingBps) <= ceilingBps * RATE_TOLERANCE_SHARE;
    const measuredBps = await attempt(() => probes.payloadBps(), isWithin);
    rows.push({
      check: `rate of ${formatBps(rateBps)}`,
      expected: `${formatBps(ceilingBps)} of TCP payload within ${percent(RATE_TOLERANCE_SHARE)}`,
      measured: formatBps(measuredBps),
      isWithin: isWithin(measuredBps),
    });
  }
  return rows;
}

/**
 * A row of links in series, one TCP flow through all of them: what it carries, and how late the emulator is
 * meanwhile.
 */
export async function checkSeries(rateBps: number): Promise<SelfTestLine[]> {
  const network = await startNetwork(rowOfSites(4, 2, rateBps), { seed: 1 });
  try {
    const probes = await Probes.start(network, 's0', 's4');
    const leastBps = SERIES_SHARE * rateBps * PAYLOAD_SHARE;
    const { bps, latenessMs } = await attempt(
      async () => {
        await network.takeLateness();
        return { bps: await probes.payloadBps(), latenessMs: await network.takeLateness() };
      },
      (result) => result.bps >= leastBps && result.latenessMs <= LATE_MS,
    );
    const check = `four links of ${formatBps(rateBps)} in series`;
    return [
      {
        check,
        expected: `at least ${formatBps(leastBps)} of TCP payload`,
        measured: formatBps(bps),
        isWithin: bps >= leastBps,
      },
      {
        check: `${check}: lateness`,
        expected: `at most ${LATE_MS} ms`,
        measured: `${latenessMs.toFixed(1)} ms`,
        isWithin: latenessMs <= LATE_MS,
      },
    ];
  } finally {
    await network.close();
  }
}

/**
 * A burst into a slow link: drops begin when the queue has its bytes, and what is last in it waits for all
 * before it.
 */
export async function checkQueue(probes: Probes): Promise<SelfTestLine[]> {
  const { spreadMs } = await measureOwnTime(probes);
  await probes.setLink('backward', { delayMs: 5, rateBps: SERIES_RATE_BPS, loss: { kind: 'none' } });
  const slow = {
    delayMs: 5,
    rateBps: QUEUE_RATE_BPS,
    queue: { bytes: QUEUE_BYTES },
    loss: { kind: 'none' },
  } as const;
  await probes.setLink('forward', slow);
  const frameBytes = QUEUE_PROBE_BYTES + PROBE_HEADERS_BYTES + FRAME_OVERHEAD_BYTES;
  const room = Math.floor(QUEUE_BYTES / frameBytes);
  const waitMs = (QUEUE_BYTES * 8000) / QUEUE_RATE_BPS + 10;
  const toleranceMs = waitMs * 2 * RTT_TOLERANCE_SHARE + RTT_TOLERANCE_MS + spreadMs;
  const isRoomRight = (first: number) => first >= room && first <= room + SENT_MEANWHILE;
  const isWaitRight = (ms: number) => Math.abs(ms - waitMs) <= toleranceMs;
  const { firstDrop, longestMs } = await attempt(
    async () => {
      const plan = { count: 3 * room, batch: 3 * room, intervalMs: 0, sizeBytes: QUEUE_PROBE_BYTES };
      const rttsMs = await probes.probe(plan);
      return { firstDrop: rttsMs.indexOf(null), longestMs: Math.max(...rttsMs.map((rttMs) => rttMs ?? 0)) };
    },
    (seen) => isRoomRight(seen.firstDrop) && isWaitRight(seen.longestMs),
  );
  await probes.setLink('both', { queue: LARGE_QUEUE, rateBps: SERIES_RATE_BPS });
  const queue = `queue of ${formatBytes(QUEUE_BYTES)} before ${formatBps(QUEUE_RATE_BPS)}`;
  return [
    {
      check: `${queue}: first drop`,
      expected: `packet ${room} to ${room + SENT_MEANWHILE} of a burst, of ${frameBytes} bytes each`,
      measured: `packet ${firstDrop}`,
      isWithin: isRoomRight(firstDrop),
    },
    {
      check: `${queue}: delay when full`,
      expected: `${waitMs.toFixed(0)} ms within ${toleranceMs.toFixed(1)} ms, of which 10 ms are the link's`,
      measured: `${longestMs.toFixed(1)} ms`,
      isWithin: isWaitRight(longestMs),
    },
  ];
}

/** Delays drawn evenly between nothing and the set jitter, on real devices: 5th, 50th and 95th percentile. */
export async function checkJitter(probes: Probes): Promise<SelfTestLine[]> {
  const own = await measureOwnTime(probes);
  await probes.setLink('both', { delayMs: 5, rateBps: SERIES_RATE_BPS });
  await probes.setLink('forward', { jitterMs: JITTER_MS });
  const wanted = [0.05, 0.5, 0.95].map((share) => share * JITTER_MS);
  // Three standard deviations of a uniform distribution's median, and what the kernel and two programs add.
  const sampledMs = (LOSS_SIGMAS * JITTER_MS) / (2 * Math.sqrt(JITTER_PROBES));
  const toleranceMs = sampledMs + 2 * RTT_TOLERANCE_MS + own.spreadMs;
  const isWithin = (seen: readonly number[]) =>
    seen.every((ms, at) => Math.abs(ms - (wanted[at] ?? 0)) <= toleranceMs);
  const seen = await attempt(async () => {
    const rttsMs = await probes.probe({ count: JITTER_PROBES, batch: 1, intervalMs: JITTER_INTERVAL_MS });
    const extraMs = rttsMs.flatMap((rttMs) => (rttMs === null ? [] : [rttMs - 10 - own.leastMs]));
    return [0.05, 0.5, 0.95].map((share) => quantile(extraMs, share));
  }, isWithin);
  await probes.setLink('forward', { jitterMs: 0 });
  return [
    {
      check: `jitter of ${JITTER_MS} ms`,
      expected: `5, 50 and 95 % below ${wanted.join(', ')} ms more, within ${toleranceMs.toFixed(1)} ms`,
      measured: `${seen.map((ms) => ms.toFixed(1)).join(', ')} ms`,
      isWithin: isWithin(seen),
    },
  ];
}

/** While the emulator stands still, a device holds so many packets and no more, and counts those that it drops. */
export async function checkDeviceQueue(probes: Probes): Promise<SelfTestLine> {
  const { network } = probes;
  const { emulatorPid } = network;
  if (emulatorPid === undefined) throw new Error('a network without links has no device to fill');
  await probes.setLink('both', { delayMs: 1, rateBps: SERIES_RATE_BPS, loss: { kind: 'none' } });
  const before = network.deviceDrops();
  process.kill(emulatorPid, 'SIGSTOP');
  let drops = 0;
  try {
    const probing = probes.probe({ count: DEVICE_QUEUE_PACKETS + EXCESS_PACKETS, batch: 500, intervalMs: 2 });
    const deadlineMs = performance.now() + DEVICE_DEADLINE_MS;
    while (drops < EXCESS_PACKETS && performance.now() < deadlineMs) {
      await delay(LOOK_MS);
      drops = network.deviceDrops() - before;
    }
    await probing;
    drops = network.deviceDrops() - before;
  } finally {
    process.kill(emulatorPid, 'SIGCONT');
  }
  return {
    check: 'a device that nobody reads',
    expected: `${EXCESS_PACKETS} of ${DEVICE_QUEUE_PACKETS + EXCESS_PACKETS} packets dropped, and counted, within ${OTHER_PACKETS}`,
    measured: String(drops),
    isWithin: Math.abs(drops - EXCESS_PACKETS) <= OTHER_PACKETS,
  };
}

/** Measures until it is as it should be, at most {@link ATTEMPTS} times; the last value. */
async function attempt<Value>(
  measure: () => Promise<Value>,
  isWithin: (value: Value) => boolean,
): Promise<Value> {
  let value = await measure();
  for (let attempts = 1; attempts < ATTEMPTS && !isWithin(value); attempts += 1) value = await measure();
  return value;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}
