import { formatBps, SEGMENT_BYTES } from '@longhaul/shared';
import { FRAME_OVERHEAD_BYTES, type LossModel } from '../emulator/link-settings.ts';
import { lossCountSigma } from '../emulator/loss-process.ts';
import { lossRateOf } from '../network/link-settings-of.ts';
import { startNetwork } from '../network/start-network.ts';
import type { Topology } from '../network/topology.ts';
import { median } from '../results/statistics.ts';
import { Probes } from './probes.ts';

/** One promise of the emulator, held against this machine. */
export interface SelfTestRow {
  readonly check: string;
  readonly expected: string;
  readonly measured: string;
  readonly isWithin: boolean;
}

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
const SEED_PACKETS = 3000;
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

/** Holds the emulator against its promises on this machine, in about half a minute. Needs root and TUN. */
export async function selfTest(): Promise<SelfTestRow[]> {
  const network = await startNetwork(rowOfSites(1, 20, 100e6), { seed: 1 });
  try {
    const probes = await Probes.start(network, 's0', 's1');
    return [
      ...(await checkRoundTrips(probes)),
      ...(await checkLosses(probes)),
      ...(await checkSeeds(probes)),
      ...(await checkRates(probes)),
      await checkSeries(),
    ];
  } finally {
    await network.close();
  }
}

/** Round-trip times of 20 and 100 ms: medians of small packets. */
export async function checkRoundTrips(probes: Probes): Promise<SelfTestRow[]> {
  const rows: SelfTestRow[] = [];
  for (const rttMs of [20, 100]) {
    await probes.setLink('both', { delayMs: rttMs / 2, loss: { kind: 'none' } });
    const toleranceMs = rttMs * RTT_TOLERANCE_SHARE + RTT_TOLERANCE_MS;
    const isWithin = (measuredMs: number) => Math.abs(measuredMs - rttMs) <= toleranceMs;
    const measuredMs = await attempt(async () => {
      const rttsMs = await probes.probe({ count: 100, batch: 1, intervalMs: 10 });
      return median(rttsMs.filter((value) => value !== null));
    }, isWithin);
    rows.push({
      check: `round trip of ${rttMs} ms`,
      expected: `${rttMs} ms within ${toleranceMs.toFixed(1)} ms`,
      measured: `${measuredMs.toFixed(2)} ms`,
      isWithin: isWithin(measuredMs),
    });
  }
  return rows;
}

/** Losses of each model, counted in the emulator: a receiver's own socket may lose some more. */
export async function checkLosses(probes: Probes): Promise<SelfTestRow[]> {
  const rows: SelfTestRow[] = [];
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
export async function checkSeeds(probes: Probes): Promise<SelfTestRow[]> {
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
export async function checkRates(probes: Probes): Promise<SelfTestRow[]> {
  const rows: SelfTestRow[] = [];
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

/** Four links of 1 Gbit/s in series, one TCP flow through all of them. */
export async function checkSeries(): Promise<SelfTestRow> {
  const network = await startNetwork(rowOfSites(4, 2, SERIES_RATE_BPS), { seed: 1 });
  try {
    const probes = await Probes.start(network, 's0', 's4');
    const leastBps = SERIES_SHARE * SERIES_RATE_BPS * PAYLOAD_SHARE;
    const measuredBps = await attempt(
      () => probes.payloadBps(),
      (bps) => bps >= leastBps,
    );
    const latenessMs = await network.takeLateness();
    return {
      check: 'four links of 1 Gbit/s in series',
      expected: `at least ${formatBps(leastBps)} of TCP payload`,
      measured: `${formatBps(measuredBps)}, latest packet ${latenessMs.toFixed(1)} ms late`,
      isWithin: measuredBps >= leastBps,
    };
  } finally {
    await network.close();
  }
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
