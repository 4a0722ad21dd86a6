import type { ClientReport } from '@longhaul/shared';
import type { Estimate } from '../estimates/estimate.ts';
import { estimateOf, type Prior } from '../estimates/figure.ts';
import { type ClassMember, LearnedPriors } from '../estimates/learned-priors.ts';
import {
  GOODPUT_LIFE_MS,
  type LegFigures,
  LOSS_LIFE_MS,
  legFiguresSchema,
  RTT_LIFE_MS,
  withReport,
} from '../estimates/leg-figures.ts';
import { lossEstimate } from '../estimates/loss-evidence.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';

/** Ways from a depot to a client network that are remembered, about 500 bytes each. */
const MOST_WAYS = 100_000;
/** Nothing is left of older measurements. */
const MEASURED_LIFE_MS = 7 * 86_400_000;
/** What a usual line gives where nothing is known of one. */
const ASSUMED_BPS = 50e6;
/** A client that nobody knows is some tens of milliseconds away, or several hundred. */
const ASSUMED_RTT: Prior = { value: 50, between: 1, within: 0.2, source: 'assumed' };

/** What a depot has measured towards a client network, by `<depot> <prefix>`: it sends. */
const CLIENT_MEASURED = {
  name: 'client-measured',
  schema: legFiguresSchema,
  keys: /^\S{1,64} [0-9a-f.:]{2,45}\/(?:24|48)$/,
  most: MOST_WAYS,
  whenFull: 'forget-oldest',
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const CLIENT_FACTS = [CLIENT_MEASURED];

type Measured = Fact<LegFigures>;

/** What is known of the leg from a depot to a client network, and how sure that is. */
interface ClientDistribution {
  readonly rttMs: Estimate;
  readonly lossRate: Estimate;
  /** Of one connection. */
  readonly goodputBps: Estimate;
}

/** The ways from depots to the networks of their clients (/24, or /48 of IPv6), as real transfers showed them. */
export class ClientTable {
  readonly #facts: Facts;
  readonly #priors = new LearnedPriors(ASSUMED_BPS);

  constructor(facts = new Facts({ kinds: CLIENT_FACTS })) {
    this.#facts = facts;
    facts.store.watch(CLIENT_MEASURED, (now, before) => {
      if (before) this.#priors.count(memberOf(before), -1);
      if (now) this.#priors.count(memberOf(now), 1);
    });
  }

  /** Takes in what a depot measured on its connections to a client network since its last report. */
  report(depot: string, report: ClientReport, nowMs: number): void {
    const key = `${depot} ${report.prefix}`;
    const known = this.#facts.own(CLIENT_MEASURED, key);
    const passedMs = known ? Math.max(0, nowMs - known.timeMs) : 0;
    this.#facts.learn(CLIENT_MEASURED, key, withReport(known?.value, report, passedMs), nowMs);
  }

  /** What is known of the leg on which `depot` sends to a client network, by its prefix. */
  distribution(depot: string, prefix: string, nowMs: number): ClientDistribution {
    const known = this.#facts.store.newest(CLIENT_MEASURED, `${depot} ${prefix}`);
    const passedMs = known ? nowMs - known.timeMs : 0;
    const { rtt, goodput, loss } = known?.value ?? {};
    const rttMs = estimateOf(rtt, passedMs, ASSUMED_RTT, RTT_LIFE_MS);
    const goodputPrior = this.#priors.goodput(rttMs.value);
    return {
      rttMs,
      goodputBps: estimateOf(goodput, passedMs, goodputPrior, GOODPUT_LIFE_MS),
      lossRate: lossEstimate(loss, passedMs, this.#priors.loss(rttMs.value), LOSS_LIFE_MS),
    };
  }
}

function memberOf({ value: { rtt, goodput, loss } }: Measured): ClassMember {
  const { sentBytes = 0, lostBytes = 0 } = loss ?? {};
  return { rttMs: rtt.value, goodputBps: goodput?.value, sentBytes, lostBytes };
}
