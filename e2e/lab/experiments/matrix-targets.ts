import { formatBps } from '@longhaul/shared';
import type { Scenario } from '../experiment.ts';
import { type Cell, cellsOf } from '../report/cells.ts';
import { fastest, isRival, withAsManyConnections } from '../report/compare.ts';
import { harmOf, SHARE_LEFT_TO_OTHERS } from '../report/harm-sections.ts';
import type { ReportPlan, ReportTarget, TargetOutcome } from '../report/report-plan.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { UNTUNED } from './matrix-paths.ts';

type Lines = readonly TransferLine[];
/** The cells of one scenario, and that of `auto` among them. */
type Judge = (row: readonly Cell[], auto: Cell) => TargetOutcome;

/** Least goodput of `auto` with big buffers and an origin on CUBIC, bits per second. */
const LEAST_BPS: Readonly<Record<string, number>> = {
  'loss0-big': 82e6,
  'loss1e-3-big': 80e6,
  'loss1e-2-big': 76e6,
};
/** Where loss holds back even the origin's leg, `auto` is ahead of every rival by so much. */
const AHEAD: Readonly<Record<string, number>> = { 'loss1e-2-big': 1.3 };
/** `auto` of the best of all ways with as many client connections, links typed in; and on paths nobody tuned for. */
const SHARE_OF_BEST = 0.97;
const SHARE_OF_BEST_UNTUNED = 0.95;
/** `auto` of `direct`, on paths nobody tuned for. */
const SHARE_OF_DIRECT = 0.98;
/** Lanes of one connection over the same chain, needed or not. */
const SHARE_OF_ONE_LANE = 0.97;

const UNKNOWN: TargetOutcome = { measured: 'not measured', isMet: null };
const middle = ({ goodputsBps }: Cell) => median(goodputsBps);

function target(plan: ReportPlan, scenario: string, text: string, judge: Judge): ReportTarget {
  return {
    scenario,
    text,
    check: (lines: Lines) => {
      const row = cellsOf(
        plan,
        lines.filter((line) => line.scenario === scenario),
      );
      const auto = row.find(({ variant }) => variant.id === 'auto');
      return auto ? judge(row, auto) : UNKNOWN;
    },
  };
}

/** `auto` against another cell; what is missing or carries nothing says nothing. */
function against(auto: Cell, other: Cell | undefined, least: number): TargetOutcome {
  if (!other || middle(other) === 0) return UNKNOWN;
  const share = middle(auto) / middle(other);
  return { measured: `${share.toFixed(2)} of ${other.variant.id}`, isMet: share >= least };
}

/**
 * What the next release must show, by row of the matrix. Shares are of medians; "the best" is picked after the
 * measurement, which is hard on `auto`.
 */
export function matrixTargets(scenarios: readonly Scenario[], plan: ReportPlan): ReportTarget[] {
  return scenarios.flatMap((scenario) => {
    const { id, group, variants, crossTraffic } = scenario;
    const isUntuned = group === UNTUNED;
    const make = (text: string, judge: Judge) => target(plan, id, text, judge);
    const leastBps = LEAST_BPS[id];
    const beatsRivals = id.endsWith('-tls') || id.endsWith('-big-bbr') || AHEAD[id] !== undefined;
    const ahead = AHEAD[id] ?? 1;
    const shareOfBest = isUntuned ? SHARE_OF_BEST_UNTUNED : SHARE_OF_BEST;
    const lanes = Object.entries(variants).flatMap(([variant, way]) =>
      way.kind === 'chain' && way.lanes !== undefined && way.laneSetup === undefined ? [variant] : [],
    );
    return [
      ...(leastBps === undefined
        ? []
        : [
            make(`auto at least ${formatBps(leastBps)}`, (_, auto) => ({
              measured: formatBps(middle(auto)),
              isMet: middle(auto) >= leastBps,
            })),
          ]),
      ...(beatsRivals
        ? [
            make(`auto at least ${ahead} x the strongest rival of all`, (row, auto) =>
              against(auto, fastest(row.filter(isRival)), ahead),
            ),
          ]
        : []),
      ...(isUntuned
        ? [
            make(`auto at least ${SHARE_OF_DIRECT} x direct`, (row, auto) =>
              against(
                auto,
                row.find(({ variant }) => variant.id === 'direct'),
                SHARE_OF_DIRECT,
              ),
            ),
          ]
        : []),
      make(`auto at least ${shareOfBest} of the best way with as many client connections`, (row, auto) =>
        against(auto, fastest(withAsManyConnections(auto, row)), shareOfBest),
      ),
      ...lanes.map((variant) => lanesCostNothing(plan, id, variant)),
      ...(crossTraffic === undefined
        ? []
        : [
            make(
              `others keep ${SHARE_LEFT_TO_OTHERS} beside auto of what they have beside its like`,
              (row, auto) => {
                const { ratio, likes } = harmOf(auto, row);
                if (!ratio) return UNKNOWN;
                return {
                  measured: `${ratio.value.toFixed(2)} of beside ${likes.join(', ')}`,
                  isMet: ratio.value >= SHARE_LEFT_TO_OTHERS,
                };
              },
            ),
          ]),
    ];
  });
}

/** Held against the same chain with one connection, which need not be the planner's choice. */
function lanesCostNothing(plan: ReportPlan, scenario: string, variant: string): ReportTarget {
  const text = `${variant} at least ${SHARE_OF_ONE_LANE} x chain3`;
  const check = (lines: Lines) => {
    const own = cellsOf(
      plan,
      lines.filter((line) => line.scenario === scenario),
    );
    const laned = own.find((cell) => cell.variant.id === variant);
    const single = own.find((cell) => cell.variant.id === 'chain3');
    return laned ? against(laned, single, SHARE_OF_ONE_LANE) : UNKNOWN;
  };
  return { scenario, text, check };
}
