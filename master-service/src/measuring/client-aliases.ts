import { NETWORK_PREFIX } from '@longhaul/shared';
import * as z from 'zod';
import { MEASURED_LIFE_MS } from '../estimates/leg-figures.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { ToldByDepots } from '../facts/told-by-depots.ts';
import { areOfTwoFamilies, isLoopback, isOfASite, neighbourhoodOf } from './client-networks.ts';

/** Words of depots that are remembered, about 200 bytes each. */
const MOST_WORDS = 50_000;
/** The same is learned again after so long: a network that is busy all day is told of once an hour. */
const SAME_AGAIN_MS = 3_600_000;
/** Who came from elsewhere within a day need not be one who has moved: behind a proxy there are many. */
const SETTLED_MS = 86_400_000;
/** So many depots that say the same are believed beside what is measured. */
const AGREEING = 2;

/** From where a depot saw a client come whose plan was made for another network, by `<depot> <network of the plan>`. */
const CLIENT_SEEN_AS = {
  name: 'client-seen-as',
  schema: z.looseObject({
    prefix: z.string().regex(NETWORK_PREFIX),
    /** How long ago one of that network came from somewhere that is no neighbour; left out where none did. */
    elsewhereMs: z.number().min(0).optional(),
  }),
  keys: /^[a-z0-9-]{1,10} [0-9a-f.:]{2,45}\/(?:24|48)$/,
  most: MOST_WORDS,
  whenFull: 'forget-oldest',
  // Without what is measured of a network an alias leads nowhere.
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;
type Word = Fact<z.output<(typeof CLIENT_SEEN_AS)['schema']>>;

export const ALIAS_FACTS = [CLIENT_SEEN_AS];

/** A network of the other family from which the clients of one come to depots. */
export interface Alias {
  readonly prefix: string;
  /** Whether several depots say so; else it counts only where nobody has measured the network itself. */
  readonly isAgreed: boolean;
}

/**
 * Under which network depots know clients that ask the master by IPv6 and come to depots by IPv4, or the
 * other way round. Each depot has one word of a network: the newest.
 */
export class ClientAliases {
  /** Its things are the networks of plans. */
  readonly #words: ToldByDepots<Word['value']>;
  /** What comes of them. */
  readonly #aliases = new Map<string, Alias>();
  /** The prefixes that count for their depots' own legs. */
  readonly #own = new Map<string, ReadonlyMap<string, string>>();

  constructor(facts = new Facts({ kinds: ALIAS_FACTS })) {
    this.#words = new ToldByDepots({
      facts,
      kind: CLIENT_SEEN_AS,
      onChange: (_depot, network) => this.#refresh(network),
    });
  }

  /**
   * Takes in that a client, whose plan was made for `network`, came to a depot from `prefix`. What is of the
   * same family is no alias, but says that not all of its clients are where the alias is; what is the depot's
   * own says nothing of that.
   */
  note(depot: string, network: string, prefix: string, nowMs: number): void {
    if (prefix === network || isLoopback(network) || neighbourhoodOf(prefix) === undefined) return;
    const known = this.#words.of(network).get(depot);
    const passedMs = known ? Math.max(0, nowMs - known.timeMs) : 0;
    if (known?.value.prefix === prefix && passedMs < SAME_AGAIN_MS) return;
    const isOfClients = known !== undefined && !isBeforeDepot(known.value.prefix, network);
    if (isOfClients && isBeforeDepot(prefix, network)) return;
    const elsewhereMs = isOfClients ? elsewhereSince(known, prefix, passedMs) : undefined;
    const value = { prefix, ...(elsewhereMs === undefined ? {} : { elsewhereMs }) };
    this.#words.learn(depot, network, value, nowMs);
  }

  /** The network of the other family that stands for a client network; `undefined` where none does. */
  of(network: string): Alias | undefined {
    return this.#aliases.get(network);
  }

  /** The same by the word of each depot, which counts for its own leg whatever others say. */
  ofEach(network: string): ReadonlyMap<string, string> {
    return this.#own.get(network) ?? NOTHING;
  }

  /** Whether a client of a network has come to a depot of late, from wherever. */
  hasMet(depot: string, network: string): boolean {
    return this.#words.of(network).has(depot);
  }

  /** Forgets what a depot has said: it is not believed any more. */
  forgetFrom(depot: string): void {
    this.#words.forgetFrom(depot);
  }

  #refresh(network: string): void {
    const ofClients = [...this.#words.of(network)].filter(
      ([, { value }]) => !isBeforeDepot(value.prefix, network),
    );
    const counting = ofClients.filter(([, word]) => counts(word, network));
    if (counting.length > 0)
      this.#own.set(network, new Map(counting.map(([by, { value }]) => [by, value.prefix])));
    else this.#own.delete(network);
    const alias = aliasOf(
      counting.map(([, word]) => word),
      counting.length === ofClients.length,
    );
    if (alias) this.#aliases.set(network, alias);
    else this.#aliases.delete(network);
  }
}

/** Whether a proxy or a container stands before a depot: whoever comes by it seems to be beside it. */
function isBeforeDepot(prefix: string, network: string): boolean {
  return isLoopback(prefix) || (isOfASite(prefix) && !isOfASite(network));
}

/** How long ago a depot saw a client come from where `prefix` is no neighbour. */
function elsewhereSince({ value }: Word, prefix: string, passedMs: number): number | undefined {
  if (!areNeighbours(value.prefix, prefix)) return passedMs;
  return value.elsewhereMs === undefined ? undefined : value.elsewhereMs + passedMs;
}

/** Whether a word may be of an alias: it is of the other family, and of one place. */
function counts({ value: { prefix, elsewhereMs = SETTLED_MS } }: Word, network: string): boolean {
  return elsewhereMs >= SETTLED_MS && areOfTwoFamilies(prefix, network);
}

/**
 * What most depots say, the newest of as many; else what the newest says, where these are all that say
 * anything, and neighbours.
 */
function aliasOf(counting: readonly Word[], areAll: boolean): Alias | undefined {
  const newestFirst = counting.toSorted((one, other) => other.timeMs - one.timeMs);
  const same = [...Map.groupBy(newestFirst, ({ value }) => value.prefix)];
  const [most] = same.toSorted(([, one], [, other]) => other.length - one.length);
  if (most && most[1].length >= AGREEING) return { prefix: most[0], isAgreed: true };
  const prefix = newestFirst[0]?.value.prefix;
  if (prefix === undefined || !areAll) return undefined;
  return counting.every(({ value }) => areNeighbours(value.prefix, prefix))
    ? { prefix, isAgreed: false }
    : undefined;
}

function areNeighbours(one: string, other: string): boolean {
  return neighbourhoodOf(one) === neighbourhoodOf(other);
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();
