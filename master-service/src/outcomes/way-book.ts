import { type Chain, MAX_CHAIN_DEPOTS, MAX_LANES } from '@longhaul/shared';
import * as z from 'zod';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { firstOf, SpeakerRoom } from '../facts/speaker-room.ts';
import type { TakenWay, TimedDownload } from '../planning/taken-ways.ts';
import type { Pair } from './calibrations.ts';

/** Pairs that are remembered, some kilobytes each at most; of one client network no more than are left free. */
const MOST_PAIRS = 5_000;
/** Chains of a pair that are remembered: those that were taken last. */
const MOST_WAYS = 6;
/** Downloads of each. */
const MOST_DOWNLOADS = 5;
/** Nothing is left of what is older. */
const KEPT_MS = 7_200_000;

const toldDownload = z.looseObject({
  jobId: z.string().max(16),
  bodyBytes: z.number().positive(),
  lanes: z.int().min(1).max(MAX_LANES),
  seconds: z.number().positive(),
  timesPlanned: z.number().positive(),
  isSeconded: z.boolean(),
  agoMs: z.number().min(0),
});
const toldWay = z.looseObject({
  chain: z.array(z.string().max(64)).min(1).max(MAX_CHAIN_DEPOTS),
  downloads: z.array(toldDownload).min(1).max(MOST_DOWNLOADS),
});

/** What the last downloads took over each chain, by `<network> <origin>`. */
const WAYS_TAKEN = {
  name: 'ways-taken',
  schema: z.looseObject({ ways: z.array(toldWay).max(MOST_WAYS) }),
  keys: /^[0-9a-f.:/]{1,64} [a-z0-9.:_-]{1,255}$/,
  most: MOST_PAIRS,
  whenFull: 'forget-oldest',
  lifeMs: KEPT_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const WAY_FACTS = [WAYS_TAKEN];

/** A download that came whole over the chain that was planned for it. */
export interface WholeDownload extends Omit<TimedDownload, 'agoMs'> {
  readonly jobId: string;
  readonly chain: Chain;
}

interface ToldDownload extends TimedDownload {
  readonly jobId: string;
}

interface ToldWay extends TakenWay {
  readonly downloads: readonly ToldDownload[];
}

/** What downloads really took, chain by chain: what links say of a way is never all that there is to it. */
export class WayBook {
  readonly #facts: Facts;
  readonly #room: SpeakerRoom;

  constructor(facts = new Facts({ kinds: WAY_FACTS })) {
    this.#facts = facts;
    this.#room = new SpeakerRoom({ facts, kind: WAYS_TAKEN, speakerOf: firstOf });
  }

  /** Takes in what a job's download took; the last word of a job counts. */
  note(pair: Pair, { chain, ...download }: WholeDownload, nowMs: number): void {
    const key = keyOf(pair);
    const known = this.#facts.own(WAYS_TAKEN, key);
    const before = known ? older(known.value.ways, nowMs - known.timeMs) : [];
    const others = before.map((way) => ({
      ...way,
      downloads: way.downloads.filter(({ jobId }) => jobId !== download.jobId),
    }));
    this.#room.makeRoomFor(key);
    const ways = joined([{ chain, downloads: [{ ...download, agoMs: 0 }] }, ...others]);
    this.#facts.learn(WAYS_TAKEN, key, { ways }, nowMs);
  }

  /** What all masters know of a pair. */
  of(pair: Pair, nowMs: number): readonly TakenWay[] {
    const facts = this.#facts.store.all(WAYS_TAKEN, keyOf(pair));
    return joined(facts.flatMap(({ value, timeMs }) => older(value.ways, nowMs - timeMs)));
  }

  /** Forgets what a depot told that is not believed any more: what downloads took that it was the entry depot of. */
  forgetFrom(depot: string): void {
    for (const { key, source, value, timeMs } of this.#facts.store.held(WAYS_TAKEN)) {
      if (source !== this.#facts.source) continue;
      const ways = value.ways.filter(({ chain }) => chain[0] !== depot);
      if (ways.length < value.ways.length) this.#facts.learn(WAYS_TAKEN, key, { ways }, timeMs);
    }
  }
}

/** The newest downloads over the chains that were taken last. */
function joined(ways: readonly ToldWay[]): { chain: string[]; downloads: ToldDownload[] }[] {
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

function older(ways: readonly ToldWay[], passedMs: number): ToldWay[] {
  return ways.map(({ chain, downloads }) => ({
    chain,
    downloads: downloads.map((one) => ({ ...one, agoMs: one.agoMs + Math.max(0, passedMs) })),
  }));
}

function keyOf({ network, host }: Pair): string {
  return `${network} ${host}`;
}
