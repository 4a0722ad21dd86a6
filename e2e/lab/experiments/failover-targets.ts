import type { FaultKind, Scenario } from '../experiment.ts';
import type { ReportTarget, TargetOutcome } from '../report/report-plan.ts';
import type { TransferLine } from '../results/transfer-line.ts';

/** A neighbour that is told hears of the end at once: what is left is to build the rest of the chain anew. */
const LONGEST_PAUSE_MS = 2000;
/** Of silence a neighbour hears only by its own patience. */
const TOLD: readonly FaultKind[] = ['fin', 'rst'];

const UNKNOWN: TargetOutcome = { measured: 'not measured', isMet: null };

/** Holds all transfers of a scenario that a fault has met against a promise. */
function ofAll(
  scenario: string,
  text: string,
  isKept: (line: TransferLine) => boolean,
  kinds: readonly FaultKind[] = ['fin', 'rst', 'silence'],
): ReportTarget {
  return {
    scenario,
    text,
    check: (lines) => {
      const met = lines.filter(
        (line) => line.scenario === scenario && line.fault && kinds.includes(line.fault),
      );
      if (met.length === 0) return UNKNOWN;
      const kept = met.filter(isKept).length;
      return { measured: `${kept} of ${met.length}`, isMet: kept === met.length };
    },
  };
}

/** What must hold whichever depot breaks, and what the client may ask of every one but its own. */
export function failoverTargets(scenarios: readonly Pick<Scenario, 'id'>[]): ReportTarget[] {
  return scenarios.flatMap(({ id }) => {
    const isWhole = ({ sha256Ok }: TransferLine) => sha256Ok === true;
    const resumes = ofAll(id, 'file byte-identical, by curl -C - through the master', isWhole);
    if (id === 'first') return [resumes];
    return [
      ofAll(
        id,
        'file byte-identical in one uninterrupted download',
        (line) => isWhole(line) && line.attempts === 1,
      ),
      ofAll(
        id,
        'pause of at most 2 s after FIN and RST',
        (line) => isWhole(line) && (line.pauseMs ?? 0) <= LONGEST_PAUSE_MS,
        TOLD,
      ),
    ];
  });
}
