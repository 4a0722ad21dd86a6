import { formatBps } from '@longhaul/shared';
import type { ReportTarget, TargetOutcome } from '../report/report-plan.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';

type Lines = readonly TransferLine[];

/** `auto` need not be better than this share of the best way chosen by hand. */
const SHARE_OF_BEST = 0.93;

function medianBps(lines: Lines, scenario: string, variant: string): number | undefined {
  const values = lines
    .filter((line) => line.scenario === scenario && line.variant === variant)
    .map(({ goodputBps }) => goodputBps);
  return values.length > 0 ? median(values) : undefined;
}

const UNKNOWN: TargetOutcome = { measured: 'not measured', isMet: null };

function ratio(scenario: string, least: number, to: string): ReportTarget {
  return {
    scenario,
    text: `auto at least ${least} x ${to}`,
    check: (lines) => {
      const auto = medianBps(lines, scenario, 'auto');
      const other = medianBps(lines, scenario, to);
      if (auto === undefined || !other) return UNKNOWN;
      return { measured: `${(auto / other).toFixed(2)} x`, isMet: auto >= least * other };
    },
  };
}

function shareOfBound(scenario: string, least: number, boundBps: number): ReportTarget {
  return {
    scenario,
    text: `auto at least ${least} of the bound`,
    check: (lines) => {
      const auto = medianBps(lines, scenario, 'auto');
      if (auto === undefined) return UNKNOWN;
      return {
        measured: `${(auto / boundBps).toFixed(2)} of ${formatBps(boundBps)}`,
        isMet: auto >= least * boundBps,
      };
    },
  };
}

function nearBest(scenario: string, byHand: readonly string[]): ReportTarget {
  return {
    scenario,
    text: 'auto within 7 % of the best way chosen by hand',
    check: (lines) => {
      const auto = medianBps(lines, scenario, 'auto');
      const others = byHand.flatMap((variant) => {
        const bps = medianBps(lines, scenario, variant);
        return bps === undefined ? [] : [{ variant, bps }];
      });
      const best = others.toSorted((one, other) => other.bps - one.bps)[0];
      if (auto === undefined || !best) return UNKNOWN;
      const share = auto / best.bps;
      return { measured: `${share.toFixed(2)} of ${best.variant}`, isMet: share >= SHARE_OF_BEST };
    },
  };
}

/**
 * What the next release must show, per row of the matrix. `byHand` are the variants that a user could choose instead of
 * the planner's, `boundOf` gives a scenario's bound.
 */
export function matrixTargets(
  scenarios: readonly string[],
  byHand: readonly string[],
  boundOf: (scenario: string) => number,
): ReportTarget[] {
  return [
    ratio('loss0-big', 1.05, 'direct'),
    shareOfBound('loss1e-3-big', 0.8, boundOf('loss1e-3-big')),
    ratio('loss1e-3-big', 1.7, 'ranges8'),
    ratio('loss1e-3-big', 5, 'direct'),
    ratio('loss1e-2-big', 25, 'direct'),
    ratio('loss1e-2-big', 3.5, 'ranges8'),
    ratio('loss0-limited', 4.5, 'direct'),
    ratio('loss1e-3-limited', 6, 'direct'),
    ...scenarios.filter((id) => id.endsWith('-bbr')).map((id) => ratio(id, 0.98, 'direct')),
    ...scenarios.map((id) => nearBest(id, byHand)),
  ];
}
