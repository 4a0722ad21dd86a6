import { AS_GOOD_AS_BEST, DEFAULT_MINIMUM_GAIN } from '@longhaul/master-service/parts';
import { FITTED, type FittedConstants } from '@longhaul/shared';
import type { Scenario } from '../experiment.ts';
import type { MeasuredWay } from './measured-ways.ts';
import { predictedSeconds } from './way-errors.ts';

/** A way as a client has it that asks the master, which redirects to the origin as well. */
interface AskedWay {
  readonly way: MeasuredWay;
  readonly predicted: number;
  readonly measured: number;
  readonly isBound: boolean;
}

/** What the planner would take of the measured ways of one topology, beside the best of them. */
export interface Choice {
  readonly scenario: Scenario;
  readonly chosen: AskedWay;
  readonly best: AskedWay;
  /** Time of the chosen way over that of the best, less 1; where the chosen one was cut, at least so much. */
  readonly regret: number;
}

/**
 * The choices in all drawn topologies that have a direct time and one over depots, as the planner would
 * decide with these constants.
 */
export function choicesOf(ways: readonly MeasuredWay[], constants: FittedConstants = FITTED): Choice[] {
  const drawn = Map.groupBy(
    ways.filter(({ part }) => part === 'drawn'),
    ({ scenario }) => scenario,
  );
  return [...drawn].flatMap(([scenario, own]): Choice[] => {
    const asked = asAsked(own, constants);
    const chosen = choose(asked);
    const best = asked
      .filter(({ isBound }) => !isBound)
      .toSorted((one, other) => one.measured - other.measured)[0];
    return chosen && best && asked.length > 1
      ? [{ scenario, chosen, best, regret: chosen.measured / best.measured - 1 }]
      : [];
  });
}

function asAsked(ways: readonly MeasuredWay[], constants: FittedConstants): AskedWay[] {
  const redirectSeconds = Math.max(...ways.map(({ modelled }) => modelled.redirectSeconds));
  return ways.map((way) => {
    const missing = redirectSeconds - way.modelled.redirectSeconds;
    return {
      way,
      predicted: predictedSeconds(way, constants) - way.modelled.redirectSeconds,
      measured: way.time.seconds + missing,
      isBound: way.time.isBound,
    };
  });
}

function depotsOf({ scenario, variant }: MeasuredWay): readonly string[] {
  const way = scenario.variants[variant];
  return way?.kind === 'chain' ? way.depots : [];
}

/**
 * The planner's rules: of each chain the fewest lanes that are as good as its best, and a chain only where it
 * is clearly faster than direct.
 */
function choose(ways: readonly AskedWay[]): AskedWay | undefined {
  const direct = ways.find(({ way }) => depotsOf(way).length === 0);
  const chains = Map.groupBy(
    ways.filter((one) => one !== direct),
    ({ way }) => depotsOf(way).join(),
  );
  const rated = [...chains.values()].flatMap((own) => {
    const best = Math.min(...own.map(({ predicted }) => predicted));
    const good = own.filter(({ predicted }) => predicted <= best * AS_GOOD_AS_BEST);
    return good.toSorted((one, other) => one.way.modelled.lanes - other.way.modelled.lanes).slice(0, 1);
  });
  const [chain] = rated.toSorted((one, other) => one.predicted - other.predicted);
  if (!direct || !chain) return direct ?? chain;
  return direct.predicted >= DEFAULT_MINIMUM_GAIN * chain.predicted ? chain : direct;
}
