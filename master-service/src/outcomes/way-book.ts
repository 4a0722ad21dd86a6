import { type Chain, chainKey, MAX_CHAIN_DEPOTS, MAX_LANES } from '@longhaul/shared';
import * as z from 'zod';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { SpeakerRoom } from '../facts/speaker-room.ts';
import { keyOf } from '../facts/two-part-keys.ts';
import type { WaitedWay } from '../planning/decision/route.ts';
import { type AtOneSite, MIDDLE, type TimedDownload } from '../planning/decision/taken-ways.ts';
import type { Pair } from '../planning/plans/learned-of-pairs.ts';
import { PAIR_KEYS } from './calibrations.ts';

/** Pairs that are remembered, some kilobytes each at most; of one client network no more than are left free. */
const MOST_PAIRS = 5_000;
/**
 * Chains of a pair that are remembered: those that were taken last, and where these all begin at one site,
 * one that begins elsewhere.
 */
const MOST_WAYS = 6;
/** Downloads of each. */
const MOST_DOWNLOADS = 5;
/** Of these one client has so many, once another one has told as well: a slow line is its own, and no way's. */
const MOST_DOWNLOADS_OF_CLIENT = 2;
/** Nothing is left of what is older. */
const KEPT_MS = 7_200_000;

const toldDownload = z.looseObject({
  jobId: z.string().max(16),
  bodyBytes: z.number().positive(),
  lanes: z.int().min(1).max(MAX_LANES),
  seconds: z.number().positive(),
  timesPlanned: z.number().positive(),
  isSeconded: z.boolean(),
  thoughtSeconds: z.number().min(0).optional(),
  isAtLeast: z.boolean().optional(),
  client: z.string().max(16).optional(),
  agoMs: z.number().min(0),
});
const toldWay = z.looseObject({
  chain: z.array(z.string().max(64)).min(1).max(MAX_CHAIN_DEPOTS),
  downloads: z.array(toldDownload).min(1).max(MOST_DOWNLOADS),
});

/** What the last downloads took over each chain, and directly, by `<network> <origin>`. */
const WAYS_TAKEN = {
  name: 'ways-taken',
  schema: z.looseObject({
    ways: z.array(toldWay).max(MOST_WAYS),
    direct: z.array(toldDownload).max(MOST_DOWNLOADS).optional(),
  }),
  keys: PAIR_KEYS,
  most: MOST_PAIRS,
  whenFull: 'forget-oldest',
  lifeMs: KEPT_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const WAY_FACTS = [WAYS_TAKEN];

/**
 * A download that came over the chain that was planned for it, or directly, as was planned: whole, or until
 * its client gave it up.
 */
export interface WholeDownload extends Omit<TimedDownload, 'agoMs'> {
  readonly jobId: string;
  readonly chain: Chain;
  /**
   * How much of that the origin thought before it answered, as far as it came later than planned for that;
   * left out where nobody told.
   */
  readonly thoughtSeconds?: number | undefined;
  /** A mark of its client, by which nobody finds it; left out where nobody told. */
  readonly client?: string | undefined;
}

type ToldDownload = z.output<typeof toldDownload>;
type ToldWay = z.output<typeof toldWay>;
type ToldPair = z.output<(typeof WAYS_TAKEN)['schema']>;
type JoinedWay = Pick<ToldWay, 'chain' | 'downloads'>;

/** What downloads really took, chain by chain: what links say of a way is never all that there is to it. */
export class WayBook {
  readonly #facts: Facts;
  readonly #room: SpeakerRoom<ToldPair>;
  readonly #areAtOneSite: AtOneSite;

  /** Without `areAtOneSite` each depot is at a site of its own. */
  constructor(
    facts = new Facts({ kinds: WAY_FACTS }),
    areAtOneSite: AtOneSite = (one, other) => one === other,
  ) {
    this.#facts = facts;
    this.#areAtOneSite = areAtOneSite;
    this.#room = new SpeakerRoom({ facts, kind: WAYS_TAKEN });
  }

  /**
   * Takes in what a job's download took over its chain, or directly where that is empty; the last word of a
   * job counts.
   */
  note(pair: Pair, { chain, ...download }: WholeDownload, nowMs: number): void {
    const key = keyOf(pair.network, pair.host);
    const known = this.#facts.own(WAYS_TAKEN, key);
    const before = known ? aged(known.value, nowMs - known.timeMs) : { ways: [], direct: [] };
    const isOther = ({ jobId }: ToldDownload) => jobId !== download.jobId;
    const others = before.ways.map((way) => ({ ...way, downloads: way.downloads.filter(isOther) }));
    const now = { ...download, agoMs: 0 };
    const isDirect = chain.length === 0;
    const ways = this.#joined(isDirect ? others : [{ chain: [...chain], downloads: [now] }, ...others]);
    const direct = newest([...(isDirect ? [now] : []), ...before.direct.filter(isOther)]);
    this.#room.learn(key, { ways, direct }, nowMs);
  }

  /** What all masters know of a pair's chains. */
  of(pair: Pair, nowMs: number): readonly WaitedWay[] {
    const ways = this.#joined(this.#all(pair, nowMs).flatMap(({ ways }) => ways));
    return ways.map((way) => ({ ...way, thoughtSeconds: thoughtIn(way) }));
  }

  /** What all masters know of its direct downloads, the newest first. */
  direct(pair: Pair, nowMs: number): readonly TimedDownload[] {
    return newest(this.#all(pair, nowMs).flatMap(({ direct }) => direct));
  }

  /** Those chains that are remembered. */
  #joined(ways: readonly ToldWay[]): JoinedWay[] {
    const all = joined(ways);
    const kept = all.slice(0, MOST_WAYS);
    const [newestEntry = ''] = kept[0]?.chain ?? [];
    // However many chains a site has: that another one was tried is what tells whether it is at fault.
    const isElsewhere = ({ chain: [entry = ''] }: JoinedWay) => !this.#areAtOneSite(newestEntry, entry);
    const elsewhere = kept.some(isElsewhere) ? undefined : all.slice(MOST_WAYS).find(isElsewhere);
    return elsewhere ? [...kept.slice(0, -1), elsewhere] : kept;
  }

  #all({ network, host }: Pair, nowMs: number) {
    const facts = this.#facts.store.all(WAYS_TAKEN, keyOf(network, host));
    return facts.map(({ value, timeMs }) => aged(value, nowMs - timeMs));
  }

  /** Forgets what a depot told that is not believed any more: what downloads took that it was the entry depot of. */
  forgetFrom(depot: string): void {
    for (const { key, source, value, timeMs } of this.#facts.store.held(WAYS_TAKEN)) {
      if (source !== this.#facts.source) continue;
      const ways = value.ways.filter(({ chain }) => chain[0] !== depot);
      if (ways.length < value.ways.length) this.#facts.learn(WAYS_TAKEN, key, { ...value, ways }, timeMs);
    }
  }
}

/**
 * How long the origin thinks before it answers over a way: as of what its downloads took, rather a lower one
 * than the middle of what they tell.
 */
function thoughtIn({ downloads }: JoinedWay): number {
  const each = downloads.map(({ thoughtSeconds = 0 }) => thoughtSeconds);
  return each.toSorted((one, other) => one - other)[Math.ceil(MIDDLE * each.length) - 1] ?? 0;
}

/** The newest downloads over each chain, those first that were taken last. */
function joined(ways: readonly ToldWay[]): JoinedWay[] {
  return [...Map.groupBy(ways, ({ chain }) => chainKey(chain)).values()]
    .map((same) => ({
      chain: [...(same[0]?.chain ?? [])],
      downloads: newest(same.flatMap(({ downloads }) => downloads)),
    }))
    .filter(({ downloads }) => downloads.length > 0)
    .toSorted((one, other) => (one.downloads[0]?.agoMs ?? 0) - (other.downloads[0]?.agoMs ?? 0));
}

function newest(downloads: readonly ToldDownload[]): ToldDownload[] {
  const all = downloads
    .filter(({ agoMs }) => agoMs < KEPT_MS)
    .toSorted((one, other) => one.agoMs - other.agoMs);
  const isOfOne = new Set(all.map(({ client }) => client)).size === 1;
  const isKept = ({ client }: ToldDownload, index: number) =>
    isOfOne || client === undefined || newerOf(client, all.slice(0, index)) < MOST_DOWNLOADS_OF_CLIENT;
  return all.filter(isKept).slice(0, MOST_DOWNLOADS);
}

function newerOf(client: string, newer: readonly ToldDownload[]): number {
  return newer.filter((one) => one.client === client).length;
}

function aged({ ways, direct = [] }: ToldPair, passedMs: number) {
  const older = (downloads: readonly ToldDownload[]) =>
    downloads.map((one) => ({ ...one, agoMs: one.agoMs + Math.max(0, passedMs) }));
  return {
    ways: ways.map(({ chain, downloads }) => ({ chain, downloads: older(downloads) })),
    direct: older(direct),
  };
}
