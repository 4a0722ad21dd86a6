import type { Chain, SizeReport } from '@longhaul/shared';
import * as z from 'zod';
import type { Fact, FactKind } from '../../facts/fact.ts';
import { Facts } from '../../facts/facts.ts';

/** URLs whose size is remembered, and URLs whose size some depots may tell; about 500 bytes each. */
const MAX_SIZES = 100_000;
/** Depots that may tell the size of one URL: the newest plan with all its alternatives, and some of older ones. */
const MAX_WITNESSES = 8;
/** Depots of which is remembered what they told of one URL: two that agree stay beside three that do not. */
const MOST_TOLD = 5;
/** What was not told for so long may have become another file. */
const SIZE_LIFE_MS = 30 * 86_400_000;

const ofUrls = {
  /** The hash by which tickets know a URL. */
  keys: /^[A-Za-z0-9_-]{1,256}$/,
  most: MAX_SIZES,
  whenFull: 'forget-oldest',
  lifeMs: SIZE_LIFE_MS,
  isKept: true,
} as const;

const seen = { sizeBytes: z.int().min(1), isWholeOnly: z.literal(true).optional() };

/**
 * The size that depots saw in the origin's answer, and whether no part of the file can be asked for; and what
 * each of them told last, the newest one at the end.
 */
const SIZE_SEEN = {
  ...ofUrls,
  name: 'size-seen',
  schema: z.looseObject({
    ...seen,
    told: z
      .array(z.looseObject({ ...seen, by: z.string().max(64), ageMs: z.number().min(0).optional() }))
      .max(MAX_WITNESSES)
      .optional(),
  }),
} satisfies FactKind<unknown>;

type Seen = z.output<(typeof SIZE_SEEN)['schema']>;
type Told = NonNullable<Seen['told']>;

/** The entry depots of the tickets that were given for a URL, the newest first. */
const TICKET_GIVEN = {
  ...ofUrls,
  name: 'ticket-given',
  schema: z.looseObject({ entries: z.array(z.string().max(64)).max(MAX_WITNESSES) }),
} satisfies FactKind<unknown>;

export const SIZE_FACTS = [SIZE_SEEN, TICKET_GIVEN];

/**
 * Sizes that depots saw in origins' answers, by the ticket's URL hash. A depot is believed only about what a
 * ticket let it fetch as entry depot.
 */
export class SizeMemory {
  readonly #facts: Facts;

  constructor(facts = new Facts({ kinds: SIZE_FACTS })) {
    this.#facts = facts;
  }

  /** Notes a ticket: the entry depots of its chains will see the file. */
  noteTicket(urlHash: string, chains: readonly Chain[], nowMs: number): void {
    const entries = chains.flatMap(([entry]) => (entry === undefined ? [] : [entry]));
    if (entries.length === 0) return;
    const before = this.#facts.own(TICKET_GIVEN, urlHash)?.value.entries ?? [];
    const all = [...new Set([...entries, ...before])].slice(0, MAX_WITNESSES);
    this.#facts.learn(TICKET_GIVEN, urlHash, { entries: all }, nowMs);
  }

  /** Whether a ticket for a URL is remembered. */
  isTicketGiven(urlHash: string): boolean {
    return this.#facts.store.all(TICKET_GIVEN, urlHash).length > 0;
  }

  /** Takes in what `depot` reports. Of a URL counts what two depots agreed on last. */
  report(depot: string, reports: readonly SizeReport[], nowMs: number): void {
    for (const { urlHash, ...report } of reports) {
      const given = this.#facts.store.all(TICKET_GIVEN, urlHash);
      if (!given.some(({ value }) => value.entries.includes(depot))) continue;
      const before = this.#facts.own(SIZE_SEEN, urlHash);
      const others = (before ? toldIn(before) : []).filter(({ by }) => by !== depot);
      const aged = others.map(({ atMs, ...one }) => ({ ...one, ageMs: Math.max(0, nowMs - atMs) }));
      const told = [...aged, { ...report, by: depot }].slice(-MOST_TOLD);
      this.#facts.learn(SIZE_SEEN, urlHash, { ...agreedOf(told), told }, nowMs);
    }
  }

  recall(urlHash: string): number | undefined {
    return this.#agreed(urlHash)?.sizeBytes;
  }

  /** Whether depots have told that no part of the file can be asked for. */
  isWholeOnly(urlHash: string): boolean {
    return this.#agreed(urlHash)?.isWholeOnly === true;
  }

  /** What depots of all masters say together. */
  #agreed(urlHash: string): Pick<Seen, 'sizeBytes' | 'isWholeOnly'> | undefined {
    const [first, ...others] = this.#facts.store.all(SIZE_SEEN, urlHash);
    if (!first || others.length === 0) return first?.value;
    const told = [first, ...others].flatMap(toldIn).toSorted((one, other) => one.atMs - other.atMs);
    // Whoever has told several masters has one voice, and what it told last counts.
    return agreedOf(told.filter(({ by }, index) => told.findLastIndex((one) => one.by === by) === index));
  }
}

/** What depots told, the newest one at the end; of a master that did not keep it, what it had in the end. */
function toldIn({ value, timeMs }: Fact<Seen>): (Told[number] & { readonly atMs: number })[] {
  const { sizeBytes, isWholeOnly, told } = value;
  const all: Told = told ?? [{ sizeBytes, by: '', ...(isWholeOnly ? { isWholeOnly } : {}) }];
  return all.map((one) => ({ ...one, atMs: timeMs - (one.ageMs ?? 0) }));
}

/** What they say together, the newest one being at the end. */
function agreedOf(told: Told): Pick<Seen, 'sizeBytes' | 'isWholeOnly'> {
  const isWholeOnly = 2 * told.filter((one) => one.isWholeOnly).length > told.length;
  return { sizeBytes: agreedSize(told), ...(isWholeOnly ? { isWholeOnly } : {}) };
}

/**
 * The size that two agreed on last: those who saw a file before it grew, however many, do not outvote two
 * that have seen it since, and one that lies agrees with nobody. Without such two it is the largest one: a
 * file that is taken for small goes direct, and no further depot would see that it is not.
 */
function agreedSize(told: Told): number {
  const newer = new Set<number>();
  for (const { sizeBytes } of told.toReversed()) {
    if (newer.has(sizeBytes)) return sizeBytes;
    newer.add(sizeBytes);
  }
  return Math.max(1, ...newer);
}
