import * as z from 'zod';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { keyOf, partsOf } from '../facts/two-part-keys.ts';

/** What client networks have said that is remembered, of depots and of origins each; some hundred bytes each. */
const MOST_JUDGEMENTS = 50_000;
/** A depot that failed for a network is avoided for so long: failures of the way there pass. */
const DEPOT_LIFE_MS = 1_800_000;
/** Whoever prefers direct is asked again after a day. */
const DIRECT_LIFE_MS = 86_400_000;
/** What so many networks from different parts of the internet say counts for all. */
const AGREEING = 5;
/** Depots and origins that operators are shown. */
const MOST_LISTED = 100;
/** Of what all agree on, so many depots at most are avoided by everybody: the rest of an overlay must be left. */
const MOST_AGREED_DEPOTS = 8;

const ofNetworks = { most: MOST_JUDGEMENTS, whenFull: 'forget-oldest', isKept: false } as const;

/** What a client network says of a depot, by `<network> <depot>`. */
const DEPOT_JUDGED = {
  ...ofNetworks,
  name: 'depot-judged',
  schema: z.looseObject({ failed: z.boolean() }),
  keys: /^\S{2,64} [a-z0-9-]{1,10}$/,
  lifeMs: DEPOT_LIFE_MS,
} satisfies FactKind<unknown>;

/** Whether a client network prefers direct downloads from an origin, by `<network> <host>`. */
const DIRECT_JUDGED = {
  ...ofNetworks,
  name: 'direct-judged',
  schema: z.looseObject({ preferred: z.boolean() }),
  keys: /^\S{2,64} \S{1,255}$/,
  lifeMs: DIRECT_LIFE_MS,
} satisfies FactKind<unknown>;

/**
 * Where downloads have come whole over chains from an origin, by `<part of the internet> <host>`: of these
 * there are many more than of wishes, which they shall not displace.
 */
const CHAINS_WORKED = {
  ...ofNetworks,
  name: 'chains-worked',
  schema: z.looseObject({}),
  keys: /^\S{2,64} \S{1,255}$/,
  lifeMs: DIRECT_LIFE_MS,
} satisfies FactKind<unknown>;

export const FEEDBACK_FACTS = [DEPOT_JUDGED, DIRECT_JUDGED, CHAINS_WORKED];

/** One thing that networks have spoken for or against, for operators. */
interface Counted {
  readonly subject: string;
  readonly against: number;
  readonly for: number;
  /** Whether it counts for all clients. */
  readonly isAgreed: boolean;
}

/**
 * What clients have said of plans: it counts for their own network, and for all when networks from several
 * parts of the internet agree and fewer say otherwise. All of it passes.
 */
export class FeedbackBook {
  readonly #facts: Facts;
  readonly #depots = new Judgements(DEPOT_LIFE_MS);
  readonly #directs = new Judgements(DIRECT_LIFE_MS);

  constructor(facts = new Facts({ kinds: FEEDBACK_FACTS })) {
    this.#facts = facts;
    const follow = <Value>(kind: FactKind<Value>, all: Judgements, isAgainst: (value: Value) => boolean) =>
      facts.store.watch(kind, (now, before) => {
        const key = (now ?? before)?.key ?? '';
        const newest = facts.store.newest(kind, key);
        all.take(key, newest && { atMs: newest.timeMs, isAgainst: isAgainst(newest.value) });
      });
    follow(DEPOT_JUDGED, this.#depots, ({ failed }) => failed);
    follow(DIRECT_JUDGED, this.#directs, ({ preferred }) => preferred);
    follow(CHAINS_WORKED, this.#directs, () => false);
  }

  /** Whether nobody is against anything: then plans need not be held against it. */
  get isEmpty(): boolean {
    return this.#depots.isEmpty && this.#directs.isEmpty;
  }

  /** A network has seen a depot fail, or work again; gives until when that counts. */
  judgeDepot(network: string, depot: string, failed: boolean, nowMs: number): number {
    this.#facts.learn(DEPOT_JUDGED, keyOf(network, depot), { failed }, nowMs);
    return nowMs + DEPOT_LIFE_MS;
  }

  /**
   * A download of a network came whole over depots from an origin, as others tell: it counts in favour of
   * them and of chains, where the network itself says nothing.
   */
  noteWorked(network: string, depots: readonly string[], host: string, nowMs: number): void {
    for (const depot of depots)
      if (!this.#depots.isJudged(network, depot, nowMs)) this.judgeDepot(network, depot, false, nowMs);
    const part = partOf(network);
    if (!this.#directs.isJudged(part, host, nowMs))
      this.#facts.learn(CHAINS_WORKED, keyOf(part, host), {}, nowMs);
  }

  /** A network prefers direct from an origin, or does not any more; gives until when that counts. */
  judgeDirect(network: string, host: string, preferred: boolean, nowMs: number): number {
    this.#facts.learn(DIRECT_JUDGED, keyOf(network, host), { preferred }, nowMs);
    return nowMs + DIRECT_LIFE_MS;
  }

  /** The depots that a client network shall not be led over now. */
  avoidedBy(network: string, nowMs: number): readonly string[] {
    const all = [...this.#depots.agreed].slice(0, MOST_AGREED_DEPOTS);
    return [...new Set([...this.#depots.of(network, nowMs), ...all])];
  }

  prefersDirect(network: string, host: string, nowMs: number): boolean {
    return this.#directs.holds(network, host, nowMs) || this.#directs.agreed.has(host);
  }

  /** What was said, for operators: without who said it. */
  counted(): { readonly depots: readonly Counted[]; readonly origins: readonly Counted[] } {
    return { depots: this.#depots.counted(), origins: this.#directs.counted() };
  }
}

interface Judgement {
  readonly atMs: number;
  /** Against a depot, or against chains. */
  readonly isAgainst: boolean;
}

/** Parts of the internet with how many of their networks say it. */
type Parts = Map<string, number>;

interface Tally {
  readonly against: Parts;
  readonly inFavour: Parts;
}

/** Who says what of which subject, counted as it comes and goes. */
class Judgements {
  readonly #lifeMs: number;
  readonly #byNetwork = new Map<string, Map<string, Judgement>>();
  readonly #tallies = new Map<string, Tally>();
  #against = 0;
  /** What networks from several parts of the internet are against, and fewer for. */
  readonly agreed = new Set<string>();

  constructor(lifeMs: number) {
    this.#lifeMs = lifeMs;
  }

  /** Whether nobody is against anything. */
  get isEmpty(): boolean {
    return this.#against === 0;
  }

  /** Whether a network has said anything of a subject that still counts. */
  isJudged(network: string, subject: string, nowMs: number): boolean {
    return this.#isAlive(this.#byNetwork.get(network)?.get(subject), nowMs);
  }

  /** Takes over what a network says of a subject now; `undefined` when that is forgotten. */
  take(key: string, now: Judgement | undefined): void {
    const [network, subject] = partsOf(key);
    const ofNetwork = this.#byNetwork.get(network) ?? new Map<string, Judgement>();
    const tally = this.#tallies.get(subject) ?? { against: new Map(), inFavour: new Map() };
    const before = ofNetwork.get(subject);
    this.#against += Number(now?.isAgainst ?? false) - Number(before?.isAgainst ?? false);
    if (before) count(before.isAgainst ? tally.against : tally.inFavour, partOf(network), -1);
    if (now) count(now.isAgainst ? tally.against : tally.inFavour, partOf(network), 1);
    if (now) ofNetwork.set(subject, now);
    else ofNetwork.delete(subject);
    keep(this.#byNetwork, network, ofNetwork, ofNetwork.size > 0);
    keep(this.#tallies, subject, tally, tally.against.size + tally.inFavour.size > 0);
    if (isAgreed(tally)) this.agreed.add(subject);
    else this.agreed.delete(subject);
  }

  /** What a network is against. */
  of(network: string, nowMs: number): string[] {
    const ofNetwork = this.#byNetwork.get(network);
    return ofNetwork ? [...ofNetwork.keys()].filter((subject) => this.holds(network, subject, nowMs)) : [];
  }

  holds(network: string, subject: string, nowMs: number): boolean {
    const judgement = this.#byNetwork.get(network)?.get(subject);
    return judgement?.isAgainst === true && this.#isAlive(judgement, nowMs);
  }

  #isAlive(judgement: Judgement | undefined, nowMs: number): boolean {
    // The clock may have been set.
    return judgement !== undefined && Math.abs(nowMs - judgement.atMs) < this.#lifeMs;
  }

  /** What most are against comes first. */
  counted(): Counted[] {
    return [...this.#tallies]
      .map(([subject, { against, inFavour }]) => ({
        subject,
        against: against.size,
        for: inFavour.size,
        isAgreed: this.agreed.has(subject),
      }))
      .toSorted((one, other) => other.against - one.against)
      .slice(0, MOST_LISTED);
  }
}

function isAgreed({ against, inFavour }: Tally): boolean {
  return against.size >= AGREEING && against.size > inFavour.size;
}

function count(parts: Parts, part: string, change: 1 | -1): void {
  const networks = (parts.get(part) ?? 0) + change;
  keep(parts, part, networks, networks > 0);
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, isKept: boolean): void {
  if (isKept) map.set(key, value);
  else map.delete(key);
}

/** The part of the internet that a network lies in, which one party may have as a whole: its /16, or /32 of IPv6. */
function partOf(network: string): string {
  return network.includes(':')
    ? network.split(':').slice(0, 2).join(':')
    : network.split('.').slice(0, 2).join('.');
}
