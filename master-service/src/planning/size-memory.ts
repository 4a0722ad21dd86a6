import type { Chain, SizeReport } from '@longhaul/shared';
import * as z from 'zod';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';

/** URLs whose size is remembered, and URLs whose size some depots may tell; about 300 bytes each. */
const MAX_SIZES = 100_000;
/** Depots that may tell the size of one URL: the newest plan with all its alternatives, and some of older ones. */
const MAX_WITNESSES = 8;
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

/** The size that a depot saw in the origin's answer, and whether no part of the file can be asked for. */
const SIZE_SEEN = {
  ...ofUrls,
  name: 'size-seen',
  schema: z.looseObject({ sizeBytes: z.int().min(1), isWholeOnly: z.literal(true).optional() }),
} satisfies FactKind<unknown>;

/** The entry depots of the tickets that were given for a URL, the newest first. */
const TICKET_GIVEN = {
  ...ofUrls,
  name: 'ticket-given',
  schema: z.looseObject({ entries: z.array(z.string().max(64)).max(MAX_WITNESSES) }),
} satisfies FactKind<unknown>;

export const SIZE_FACTS = [SIZE_SEEN, TICKET_GIVEN];

/**
 * Sizes that depots saw in origins' answers, by the ticket's URL hash. A depot is believed only about what a ticket let it
 * fetch as entry depot.
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

  /** Takes in what `depot` reports; the newest report of a URL counts. */
  report(depot: string, reports: readonly SizeReport[], nowMs: number): void {
    for (const { urlHash, ...seen } of reports) {
      const given = this.#facts.store.all(TICKET_GIVEN, urlHash);
      const isWitness = given.some(({ value }) => value.entries.includes(depot));
      if (isWitness) this.#facts.learn(SIZE_SEEN, urlHash, seen, nowMs);
    }
  }

  recall(urlHash: string): number | undefined {
    return this.#facts.store.newest(SIZE_SEEN, urlHash)?.value.sizeBytes;
  }

  /** Whether a depot has told that no part of the file can be asked for. */
  isWholeOnly(urlHash: string): boolean {
    return this.#facts.store.newest(SIZE_SEEN, urlHash)?.value.isWholeOnly === true;
  }
}
