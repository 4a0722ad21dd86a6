/**
 * Topologies that nobody has tuned the model for: drawn rows of one to three depots, with the ways over them
 * that are measured.
 */
import { DEFAULT_MIN_LANE_BYTES } from '@longhaul/master-service/parts';
import { MIB } from '@longhaul/shared';
import { RandomStream } from '../emulator/random-stream.ts';
import type { Experiment, Scenario, Variant } from '../experiment.ts';
import { BIG_BUFFER_BYTES, LIMITED_BUFFER_BYTES } from '../experiments/four-links.ts';
import type { EmulatedLink, Topology } from '../network/topology.ts';
import { rounded } from '../results/rounded.ts';
import { fingerprintOf } from '../results/run-info.ts';

/** So many can be asked for. */
export const MOST_DRAWN = 99;

const MOST_DEPOTS = 3;
/** Of the whole row, the longest around half of the Earth. */
const RTT_MS = { least: 20, most: 250 } as const;
const RATE_BPS = { least: 20e6, most: 200e6 } as const;
/** Of the links that lose anything at all. */
const LOSS = { least: 1e-5, most: 1e-2 } as const;
/** So many times the link's rate times the row's round trip. */
const QUEUE = { least: 0.5, most: 2 } as const;
/** Drop-tail queues of real devices hold some full packets, however slow the link. */
const LEAST_QUEUE_BYTES = 32_000;
const SIZES_BYTES: readonly number[] = [1_000_000, 4 * MIB, 8 * MIB, 16 * MIB];
/** Those that the planner compares with one. */
const LANES: readonly number[] = [4, 8];
/** Half of all links lose nothing. */
const LOSSY_SHARE = 0.5;
const LIMITED_SHARE = 0.25;
const BBR_SHARE = 1 / 3;
const TLS_SHARE = 0.5;

/** The experiment of the first so many topologies of a seed: more of them change nothing of those before. */
export function drawnExperiment(seed: number, count: number): Experiment {
  return {
    name: 'model',
    title: 'Drawn topologies',
    question: 'How well are times predicted where nothing was fitted?',
    scenarios: Array.from({ length: count }, (_, at) => drawnScenario(seed, at + 1)),
    full: { repeats: 1 },
    quick: { repeats: 1 },
    cutSeconds: null,
    repeatsPerTurn: Number.POSITIVE_INFINITY,
  };
}

function drawnScenario(seed: number, number: number): Scenario {
  const random = new RandomStream(`${seed}/drawn/${number}`);
  const depots = Array.from({ length: 1 + Math.floor(random.next() * MOST_DEPOTS) }, (_, at) => `d${at + 1}`);
  const topology = drawnRow(random, depots);
  const sizeBytes = oneOf(random, SIZES_BYTES);
  const tls = random.next() < TLS_SHARE;
  const variants = drawnWays(random, depots, sizeBytes);
  const scenario = { topology, client: 'client', origin: 'origin', depots, sizeBytes, tls, variants };
  // What is drawn in another way one day shall not be taken for what was measured of it.
  const id = `t${String(number).padStart(2, '0')}-${fingerprintOf(scenario).slice(0, 6)}`;
  return { id, label: topology.name, ...scenario };
}

function drawnRow(random: RandomStream, depots: readonly string[]): Topology {
  const sites = ['client', ...depots, 'origin'];
  const weights = sites.slice(1).map(() => 0.15 + random.next());
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const rowMs = between(random, RTT_MS);
  const links = weights.map((weight, at): EmulatedLink => {
    const rateBps = Number(between(random, RATE_BPS).toPrecision(2));
    const isLossy = random.next() < LOSSY_SHARE;
    const loss = Number(between(random, LOSS).toPrecision(2));
    const bytes = Math.round((between(random, QUEUE) * rateBps * rowMs) / 8000);
    return {
      between: [sites[at] ?? '', sites[at + 1] ?? ''],
      rttMs: rounded((rowMs * weight) / sum, 1),
      rateBps,
      queue: { bytes: Math.max(LEAST_QUEUE_BYTES, bytes) },
      ...(isLossy ? { loss } : {}),
    };
  });
  const sender = random.next() < BBR_SHARE ? 'bbr' : 'cubic';
  const bufferBytes = random.next() < LIMITED_SHARE ? LIMITED_BUFFER_BYTES : BIG_BUFFER_BYTES;
  return {
    name: `${links.map(describe).join(', ')}; ${sender}${bufferBytes === LIMITED_BUFFER_BYTES ? ', limited window' : ''}`,
    sites: {
      client: { role: 'client', receiveBufferBytes: bufferBytes },
      ...Object.fromEntries(
        depots.map((depot) => [depot, { role: 'depot', receiveBufferBytes: BIG_BUFFER_BYTES } as const]),
      ),
      origin: { role: 'origin', congestionControl: sender },
    },
    links,
  };
}

/** The ways from a client on: all depots, over one lane and over several, and some of them, in their order. */
function drawnWays(
  random: RandomStream,
  depots: readonly string[],
  sizeBytes: number,
): Record<string, Variant> {
  const lanes = oneOf(random, LANES);
  const kept = depots.filter(() => random.next() < 0.5);
  const some = kept.length === 0 || kept.length === depots.length ? [oneOf(random, depots)] : kept;
  return {
    direct: { kind: 'direct' },
    chain: { kind: 'chain', depots },
    ...(sizeBytes >= DEFAULT_MIN_LANE_BYTES
      ? { [`chain-lanes${lanes}`]: { kind: 'chain', depots, lanes } }
      : {}),
    ...(depots.length > 1 ? { shorter: { kind: 'chain', depots: some } } : {}),
  };
}

/** As many from one power of ten as from the next. */
function between(
  random: RandomStream,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  return least * (most / least) ** random.next();
}

function oneOf<Item>(random: RandomStream, items: readonly Item[]): Item {
  return items[Math.floor(random.next() * items.length)] as Item;
}

function describe({ rttMs, rateBps, loss }: EmulatedLink): string {
  const losing = typeof loss === 'number' ? ` loss ${loss}` : '';
  return `${rttMs.toFixed(0)} ms ${(rateBps / 1e6).toFixed(0)} Mbit/s${losing}`;
}
