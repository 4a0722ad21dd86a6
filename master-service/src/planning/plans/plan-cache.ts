import { canonicalOriginUrl, type GetOptions, type OriginUrl, type TicketKind } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';

/** Download managers ask again for every range; for so long they get the same ticket and job. */
export const SAME_PLAN_MS = 60_000;
/**
 * How often a plan is given: a download manager asks for each of its connections, and whoever was refused
 * comes again.
 */
export const SAME_PLAN_TIMES = 64;
/** Plans kept at once, most of them about 3 kB. */
const MAX_PLANS = 5000;
/** Characters of all kept plans, about 16 MB: one for a long URL holds several copies of it, 50 kB and more. */
const MAX_PLAN_CHARS = 16_000_000;

interface PlanQuestion {
  /** Its address, or /64: a ticket's budget and connections are one client's, and no neighbour's. */
  readonly client: string;
  readonly url: OriginUrl;
  readonly options: GetOptions;
  readonly kind: TicketKind;
}

/**
 * What a plan is given for: a part of the file, or its head; the whole; or to be told, for the whole that may
 * be fetched by it.
 */
export type PlanUse = 'part' | 'whole' | 'told';

/** What a plan is kept with. */
interface PlanTerms {
  /** How long what is kept of it is, in characters. */
  readonly chars: number;
  /** For how many whole files its ticket is good. */
  readonly wholes: number;
  /** What it is given for first. */
  readonly use: PlanUse;
}

interface Kept<Plan> extends Omit<PlanTerms, 'use'> {
  readonly plan: Plan;
  readonly madeAtMs: number;
  given: number;
  /** For how many whole files it was given; who comes for what it was told was counted then. */
  givenWholes: number;
  /** When its client was told that it is to be led to this, or came for it after that. */
  toldAtMs: number;
  /** Whether its client was told and has not come for it since. */
  isAwaited: boolean;
}

/** The plan that a question was last answered with, and when that was. */
export type LastGiven<Plan> = Pick<Kept<Plan>, 'plan' | 'madeAtMs' | 'toldAtMs' | 'isAwaited'>;

/** Plans given out in the last minute, by their {@link planKey}. */
export class PlanCache<Plan> {
  readonly #plans = keptPlans<Plan>();
  /** The same plans by what their clients asked for, letter by letter. */
  readonly #asked = keptPlans<Plan>();

  get(key: string, use: PlanUse, nowMs: number): Plan | undefined {
    return give(this.#plans.get(key), use, nowMs);
  }

  /** The plan that this was last answered with, however old it is; `undefined` where that is forgotten. */
  last(key: string): LastGiven<Plan> | undefined {
    return this.#plans.get(key);
  }

  /** A client has asked what this would be answered with, before it comes for it. */
  noteTold(key: string, nowMs: number): void {
    const kept = this.#plans.get(key);
    if (kept) tell(kept, nowMs, true);
  }

  /** A client comes for what it was told. */
  noteCame(key: string, nowMs: number): void {
    const kept = this.#plans.get(key);
    if (kept?.isAwaited) tell(kept, nowMs, false);
  }

  /** The plan that was last given to whoever asked for exactly this. */
  getAsked(asked: string, use: PlanUse, nowMs: number): Plan | undefined {
    const kept = this.#asked.get(asked);
    const plan = give(kept, use, nowMs);
    if (kept?.isAwaited) tell(kept, nowMs, false);
    return plan;
  }

  /** Keeps a plan, which is given by that for the first time; `asked` says, letter by letter, what it answers. */
  set(key: string, plan: Plan, terms: PlanTerms, nowMs: number, asked?: string): void {
    const { chars, wholes, use } = terms;
    const given = { given: 1, givenWholes: use === 'part' ? 0 : 1, toldAtMs: nowMs, isAwaited: false };
    const kept = { plan, chars, wholes, madeAtMs: nowMs, ...given };
    this.#plans.set(key, kept);
    if (asked !== undefined) this.#asked.set(asked, kept);
  }
}

function keptPlans<Plan>(): LruMap<string, Kept<Plan>> {
  return new LruMap(MAX_PLANS, { most: MAX_PLAN_CHARS, weigh: (key, { chars }) => key.length + chars });
}

function tell<Plan>(kept: Kept<Plan>, nowMs: number, isAwaited: boolean): void {
  kept.toldAtMs = nowMs;
  kept.isAwaited = isAwaited;
}

function give<Plan>(kept: Kept<Plan> | undefined, use: PlanUse, nowMs: number): Plan | undefined {
  if (!kept || kept.given >= SAME_PLAN_TIMES || !isKept(kept, nowMs)) return undefined;
  const isOneMore = use === 'told' || (use === 'whole' && !kept.isAwaited);
  if (isOneMore && kept.givenWholes >= kept.wholes) return undefined;
  if (isOneMore) kept.givenWholes += 1;
  kept.given += 1;
  return kept.plan;
}

function isKept({ madeAtMs }: Kept<unknown>, nowMs: number): boolean {
  return Math.abs(nowMs - madeAtMs) < SAME_PLAN_MS;
}

/** The same text for the same question: nothing but the URL, which is last, may hold a space. */
export function planKey({ client, url, options, kind }: PlanQuestion): string {
  const { sizeBytes = '', via = [], avoid = [], lanes = '', signalling = 'cascade' } = options;
  const depots = via.length + avoid.length > 0 ? `${via.join('+')}>${avoid.toSorted().join('+')}` : '';
  return `${client} ${kind} ${sizeBytes} ${lanes} ${signalling} ${depots} ${canonicalOriginUrl(url)}`;
}
