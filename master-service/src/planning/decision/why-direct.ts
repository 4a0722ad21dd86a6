import { chainSeconds, type DecisionReason, type LegEstimate } from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { RatedChain } from '../search/rated-chain.ts';

interface DirectFacts {
  readonly config: Pick<PlannerConfig, 'maxDepots' | 'maxLanes' | 'minimumGain'>;
  readonly depots: readonly PlanningDepot[];
  readonly avoid: readonly string[];
  /** Whether clients of this network asked for it. */
  readonly isDirectPreferred: boolean;
  /** The fastest chains past the depots to avoid; none of them is clearly faster than direct. */
  readonly ranked: readonly RatedChain[];
  /** Those to choose from that would be, by their legs alone: it is what downloads took that speaks against them. */
  readonly fasterByLegs: () => readonly RatedChain[];
  /** Whether downloads of these ends took a chain. */
  readonly isTaken: (chain: RatedChain) => boolean;
  readonly directLegs: readonly LegEstimate[];
  /** Whether a chain over these depots would be clearly faster. */
  readonly wouldWin: (depots: readonly PlanningDepot[]) => boolean;
}

/** For a file of this size, hours at any rate, set-up and slow start do not count. */
const ENDLESS_BYTES = 1_000_000_000_000_000;

/** Why a download goes direct: the first cause without which it might not. */
export function whyDirect(facts: DirectFacts): DecisionReason {
  const { config, depots, avoid, ranked, wouldWin } = facts;
  const up = depots.filter(({ state }) => state === 'up');
  const usable = up.filter(({ id }) => !avoid.includes(id));
  if (config.maxDepots === 0) return 'chains-off';
  if (depots.length === 0) return 'no-depots';
  if (up.length === 0) return 'no-depot-up';
  if (facts.isDirectPreferred) return 'direct-preferred';
  if (usable.length === 0) return 'depots-avoided';
  if (usable.length < up.length && wouldWin(up)) return 'depots-avoided';
  if (ranked.length === 0) return 'links-unknown';
  const faster = facts.fasterByLegs();
  if (faster.length > 0) return faster.some(facts.isTaken) ? 'chain-disappoints' : 'no-gain';
  return winsWithoutEnd(facts) ? 'small-file' : 'no-gain';
}

/** Only the chains that are fastest for this file are looked at: another search would cost as much as the plan. */
function winsWithoutEnd({ config, ranked, directLegs }: DirectFacts): boolean {
  const seconds = (legs: readonly LegEstimate[], lanes: number) =>
    chainSeconds(legs, ENDLESS_BYTES, { clientTls: false, originTls: false }, lanes);
  const mostSeconds = seconds(directLegs, 1) / config.minimumGain;
  return ranked.some(({ legs }) => seconds(legs, config.maxLanes) <= mostSeconds);
}
