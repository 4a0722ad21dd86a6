import type { NeighbourLeg } from '@longhaul/shared';
import type { LegClass } from '../sockets/leg-options.ts';
import { type LegCounts, type LegLimit, LIMITS } from './leg-meter.ts';
import type { LegSample, WatchedLeg } from './leg-sampler.ts';

/** What all connections of one transfer to the same neighbour did together, as the kernel told. */
export interface LegSummary extends LegCounts {
  readonly legClass: LegClass;
  /** The depot at the other end, where it is one. */
  readonly depot?: string;
  /** The network of the client there, the last one's of several. */
  readonly network?: string;
  readonly connections: number;
  /**
   * Smallest round-trip time of all, and the smoothed one at the end of the last; left out where the kernel
   * did not tell.
   */
  readonly minRttMs?: number;
  readonly rttMs?: number;
  /** Greatest of the connections: what the network carried while nothing but the network held the sender back. */
  readonly deliveryRateBps?: number;
}

/** Sums the legs of one transfer by neighbour, so that what it tells of them stays small, however many there were. */
export class LegSummaries {
  readonly #byNeighbour = new Map<string, LegSummary>();
  readonly #watched = new Set<WatchedLeg>();

  /** The leg, whose end is counted here. */
  watch(leg: WatchedLeg): WatchedLeg {
    let sample: LegSample | undefined;
    const counted: WatchedLeg = {
      neighbour: leg.neighbour,
      look: leg.look,
      measure: leg.measure,
      stop: () => {
        if (sample) return sample;
        sample = leg.stop();
        this.#watched.delete(counted);
        this.#add(sample);
        return sample;
      },
    };
    this.#watched.add(counted);
    return counted;
  }

  /** What the connections that run do now, by neighbour. */
  now(): readonly NeighbourLeg[] {
    const byPeer = new Map<string, NeighbourLeg>();
    for (const { neighbour, measure } of this.#watched) {
      const peer = neighbour.depot ?? neighbour.legClass;
      const now = measure();
      // Nothing is known of a rate before the second look.
      if (now && now.seconds > 0) byPeer.set(peer, joined(byPeer.get(peer), peer, now));
    }
    return [...byPeer.values()];
  }

  /** Takes the last look at legs that still run, and gives all: the client's, those of depots, the origin's. */
  end(): readonly LegSummary[] {
    for (const leg of this.#watched) leg.stop();
    return [...this.#byNeighbour].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, summary]) => summary);
  }

  #add({ legClass, depot, network, measure }: LegSample): void {
    if (!measure) return;
    // The names of the classes sort as they stand in a chain.
    const neighbour = `${legClass} ${depot ?? ''}`;
    const before = this.#byNeighbour.get(neighbour);
    const { minRttMs, rttMs, deliveryRateBps } = measure;
    const of = (key: 'sentBytes' | 'retransmittedBytes' | 'receivedBytes') =>
      (before?.[key] ?? 0) + measure[key];
    const limited = LIMITS.map((limit): [LegLimit, number] => {
      return [limit, (before?.limitedMs[limit] ?? 0) + measure.limitedMs[limit]];
    });
    this.#byNeighbour.set(neighbour, {
      legClass,
      ...(depot === undefined ? {} : { depot }),
      ...(network === undefined ? {} : { network }),
      connections: (before?.connections ?? 0) + 1,
      sentBytes: of('sentBytes'),
      retransmittedBytes: of('retransmittedBytes'),
      receivedBytes: of('receivedBytes'),
      limitedMs: Object.fromEntries(limited) as Record<LegLimit, number>,
      ...known('minRttMs', [before?.minRttMs, minRttMs], Math.min),
      ...known('rttMs', [rttMs ?? before?.rttMs], Math.min),
      ...known('deliveryRateBps', [before?.deliveryRateBps, deliveryRateBps], Math.max),
    });
  }
}

function known<Key extends string>(
  key: Key,
  values: readonly (number | undefined)[],
  choose: (...values: number[]) => number,
): Partial<Record<Key, number>> {
  const told = values.filter((value) => value !== undefined);
  return told.length === 0 ? {} : ({ [key]: choose(...told) } as Record<Key, number>);
}

/** One more connection to a neighbour; of several round-trip times the smallest counts. */
function joined(
  before: Omit<NeighbourLeg, 'peer'> | undefined,
  peer: string,
  { rttMs, sentBps, receivedBps }: Pick<NeighbourLeg, 'rttMs' | 'sentBps' | 'receivedBps'>,
  connections = 1,
): NeighbourLeg {
  return {
    peer,
    connections: (before?.connections ?? 0) + connections,
    ...known('rttMs', [before?.rttMs, rttMs], Math.min),
    sentBps: (before?.sentBps ?? 0) + sentBps,
    receivedBps: (before?.receivedBps ?? 0) + receivedBps,
  };
}

/** The legs of several transfers of one job together. */
export function joinNeighbours(all: readonly NeighbourLeg[]): readonly NeighbourLeg[] {
  const byPeer = new Map<string, NeighbourLeg>();
  for (const leg of all) {
    byPeer.set(leg.peer, joined(byPeer.get(leg.peer), leg.peer, leg, leg.connections));
  }
  return [...byPeer.values()];
}
