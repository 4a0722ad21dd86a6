import type { Chain } from '@longhaul/shared';
import * as z from 'zod';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { type TakenWay, TakenWays, type TimedDownload } from '../planning/taken-ways.ts';
import type { Pair } from './calibrations.ts';

/** Pairs that are remembered, two kilobytes each at most. */
const MOST_PAIRS = 5_000;
/** Chains of a pair that are remembered: those that were taken last. */
const MOST_WAYS = 6;
/** Downloads of each. */
const MOST_DOWNLOADS = 3;
/** Nothing is left of what is older. */
const KEPT_MS = 7_200_000;

const timedDownload = z.looseObject({
  bodyBytes: z.number().positive(),
  lanes: z.int().min(1),
  seconds: z.number().positive(),
  timesPlanned: z.number().positive(),
  agoMs: z.number().min(0),
});
const takenWay = z.looseObject({
  chain: z.array(z.string()).min(1).max(8),
  downloads: z.array(timedDownload).min(1).max(MOST_DOWNLOADS),
});

/** What the last downloads took over each chain, by `<network> <origin>`. */
const WAYS_TAKEN = {
  name: 'ways-taken',
  schema: z.looseObject({ ways: z.array(takenWay).max(MOST_WAYS) }),
  keys: /^[0-9a-f.:/]{1,64} [a-z0-9.:_-]{1,255}$/,
  most: MOST_PAIRS,
  whenFull: 'forget-oldest',
  lifeMs: KEPT_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const WAY_FACTS = [WAYS_TAKEN];

/** A download that came whole over the chain that was planned for it. */
export interface WholeDownload extends Omit<TimedDownload, 'agoMs'> {
  readonly chain: Chain;
}

/** What downloads really took, chain by chain: what links say of a way is never all that there is to it. */
export class WayBook {
  readonly #facts: Facts;

  constructor(facts = new Facts({ kinds: WAY_FACTS })) {
    this.#facts = facts;
  }

  note(pair: Pair, { chain, ...download }: WholeDownload, nowMs: number): void {
    const known = this.#facts.own(WAYS_TAKEN, keyOf(pair));
    const before = known ? older(known.value.ways, nowMs - known.timeMs) : [];
    this.#facts.learn(
      WAYS_TAKEN,
      keyOf(pair),
      { ways: joined([{ chain, downloads: [{ ...download, agoMs: 0 }] }, ...before]) },
      nowMs,
    );
  }

  /** What all masters know of a pair; `undefined` where that is nothing. */
  of(pair: Pair, nowMs: number): TakenWays | undefined {
    const facts = this.#facts.store.all(WAYS_TAKEN, keyOf(pair));
    if (facts.length === 0) return undefined;
    return new TakenWays(joined(facts.flatMap(({ value, timeMs }) => older(value.ways, nowMs - timeMs))));
  }
}

/** The newest downloads over the chains that were taken last. */
function joined(ways: readonly TakenWay[]): { chain: string[]; downloads: TimedDownload[] }[] {
  return [...Map.groupBy(ways, ({ chain }) => chain.join()).values()]
    .map((same) => ({
      chain: [...(same[0]?.chain ?? [])],
      downloads: same
        .flatMap(({ downloads }) => downloads)
        .filter(({ agoMs }) => agoMs < KEPT_MS)
        .toSorted((one, other) => one.agoMs - other.agoMs)
        .slice(0, MOST_DOWNLOADS),
    }))
    .filter(({ downloads }) => downloads.length > 0)
    .toSorted((one, other) => (one.downloads[0]?.agoMs ?? 0) - (other.downloads[0]?.agoMs ?? 0))
    .slice(0, MOST_WAYS);
}

function older(ways: readonly TakenWay[], passedMs: number): TakenWay[] {
  return ways.map(({ chain, downloads }) => ({
    chain,
    downloads: downloads.map((one) => ({ ...one, agoMs: one.agoMs + Math.max(0, passedMs) })),
  }));
}

function keyOf({ network, host }: Pair): string {
  return `${network} ${host}`;
}
