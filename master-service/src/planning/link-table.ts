import type { LinkReport } from '@longhaul/shared';
import * as z from 'zod';
import type { LinkConfig } from '../config.ts';
import { type Fact, type FactKind, isYounger } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';

/** A report older than this says nothing about the link any more; then the configuration counts again. */
export const REPORT_LIFE_MS = 600_000;
/** Links whose measurements are kept, each direction for itself: 1000 depots with 50 neighbours each. */
const MOST_LINKS = 100_000;

const positive = z.number().positive();
const ageMs = z.number().min(0);

/** What one end of a link has measured of it, by `<this end> <other end>`. */
const LINK_MEASURED = {
  name: 'link-measured',
  schema: z.looseObject({
    rttMs: z.number().min(0),
    /** Loss and goodput, which only the end that sends can tell; with their ages when the round trip was measured. */
    lossRate: z.looseObject({ value: z.number().min(0).max(1), ageMs }).optional(),
    goodputBps: z.looseObject({ value: positive, ageMs }).optional(),
  }),
  keys: /^\S{1,64} \S{1,64}$/,
  most: MOST_LINKS,
  whenFull: 'forget-oldest',
  lifeMs: REPORT_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const LINK_FACTS = [LINK_MEASURED];

/** What is known of the way between two ends, in either direction. */
export interface LinkEstimate {
  readonly rttMs: number;
  readonly lossRate: number;
  /** Capacity of the narrowest place, bits per second; the measured goodput where no capacity is configured. */
  readonly rateBps: number;
  readonly windowBytes: number;
  /** TCP goodput that the depots measured with their own settings. */
  readonly goodputBps: number | undefined;
  /** Age of the oldest reported figure in it; `undefined` when all of it is configured. */
  readonly ageMs: number | undefined;
}

/** One figure with the time of the report that had it. */
interface Dated {
  readonly value: number;
  readonly atMs: number;
}

/** The newest figures of a link; not every report has all three. */
interface Measured {
  readonly rttMs: Dated;
  readonly lossRate: Dated | undefined;
  readonly goodputBps: Dated | undefined;
}

type MeasuredFact = Fact<z.output<(typeof LINK_MEASURED)['schema']>>;

/**
 * The links the planner knows: configured ones, and what depots reported, which counts first unless `fixed`. What was
 * reported is a replica of facts.
 */
export class LinkTable {
  readonly #configured = new Map<string, LinkConfig>();
  readonly #measured = new Map<string, Measured>();
  readonly #windowBytes: number;
  readonly #facts: Facts;

  constructor(links: readonly LinkConfig[], windowBytes: number, facts = new Facts({ kinds: LINK_FACTS })) {
    for (const link of links) this.#configured.set(pairKey(...link.between), link);
    this.#windowBytes = windowBytes;
    this.#facts = facts;
    facts.store.watch(LINK_MEASURED, (now, before) => this.#refresh((now ?? before)?.key ?? ''));
  }

  /**
   * Takes in what the depot `from` measured. The newest report of either end counts; loss and goodput, which only the end
   * that sends can tell, outlive newer reports without them, each for its own time.
   */
  report(from: string, { to, rttMs, lossRate, goodputBps }: LinkReport, nowMs: number): void {
    const key = `${from} ${to}`;
    const known = this.#facts.own(LINK_MEASURED, key);
    const passedMs = known ? Math.max(0, nowMs - known.timeMs) : 0;
    const newest = (value: number | undefined, before: { value: number; ageMs: number } | undefined) => {
      if (value !== undefined) return { value, ageMs: 0 };
      if (!before || before.ageMs + passedMs > REPORT_LIFE_MS) return undefined;
      return { value: before.value, ageMs: before.ageMs + passedMs };
    };
    const loss = newest(lossRate, known?.value.lossRate);
    const goodput = newest(goodputBps, known?.value.goodputBps);
    const value = {
      rttMs,
      ...(loss ? { lossRate: loss } : {}),
      ...(goodput ? { goodputBps: goodput } : {}),
    };
    this.#facts.learn(LINK_MEASURED, key, value, nowMs);
  }

  /** The estimate of the link between `one` and `other`; `undefined` when RTT or rate are unknown. */
  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined {
    const key = pairKey(one, other);
    const link = this.#configured.get(key);
    const measured = this.#measured.get(key);
    const isUsed = measured && isFresh(measured.rttMs, nowMs) && !link?.fixed;
    if (isUsed) return this.#estimateFrom(measured, link, nowMs);
    return link && this.#asConfigured(link);
  }

  /** Puts together what both ends say: each figure from whoever measured it last. */
  #refresh(key: string): void {
    const [one = '', other = ''] = key.split(' ');
    const { store } = this.#facts;
    const facts = [
      ...store.all(LINK_MEASURED, `${one} ${other}`),
      ...store.all(LINK_MEASURED, `${other} ${one}`),
    ].toSorted((left, right) => (isYounger(left, right) ? -1 : 1));
    const [newest] = facts;
    const pair = pairKey(one, other);
    if (!newest) {
      this.#measured.delete(pair);
      return;
    }
    this.#measured.set(pair, {
      rttMs: { value: newest.value.rttMs, atMs: newest.timeMs },
      lossRate: newestFigure(facts, 'lossRate'),
      goodputBps: newestFigure(facts, 'goodputBps'),
    });
  }

  #estimateFrom(measured: Measured, link: LinkConfig | undefined, nowMs: number): LinkEstimate | undefined {
    const fresh = (figure: Dated | undefined) => (figure && isFresh(figure, nowMs) ? figure : undefined);
    const [lossRate, goodputBps] = [fresh(measured.lossRate), fresh(measured.goodputBps)];
    const rateBps = Math.max(link?.rateBps ?? 0, goodputBps?.value ?? 0);
    if (rateBps === 0) return undefined;
    const dates = [measured.rttMs, lossRate, goodputBps].flatMap((figure) => (figure ? [figure.atMs] : []));
    return {
      rttMs: measured.rttMs.value,
      lossRate: lossRate?.value ?? link?.lossRate ?? 0,
      rateBps,
      windowBytes: link?.windowBytes ?? this.#windowBytes,
      goodputBps: goodputBps?.value,
      ageMs: Math.max(0, nowMs - Math.min(...dates)),
    };
  }

  #asConfigured({ rttMs, lossRate, rateBps, windowBytes }: LinkConfig): LinkEstimate {
    const window = windowBytes ?? this.#windowBytes;
    return { rttMs, lossRate, rateBps, windowBytes: window, goodputBps: undefined, ageMs: undefined };
  }
}

/** The figure that was measured last; of equally old ones that of the newest fact. */
function newestFigure(facts: readonly MeasuredFact[], name: 'lossRate' | 'goodputBps'): Dated | undefined {
  const figures = facts.flatMap(({ value, timeMs }) => {
    const figure = value[name];
    return figure ? [{ value: figure.value, atMs: timeMs - figure.ageMs }] : [];
  });
  const [first, ...others] = figures;
  return first && others.reduce((best, figure) => (figure.atMs > best.atMs ? figure : best), first);
}

function isFresh({ atMs }: Dated, nowMs: number): boolean {
  return nowMs - atMs <= REPORT_LIFE_MS;
}

function pairKey(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
