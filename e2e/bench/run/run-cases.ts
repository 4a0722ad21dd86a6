import { machineLoad } from '../../lab/results/machine-load.ts';
import type { LineFile } from '../../lab/results/result-file.ts';
import type { BenchCase, CaseStage, Party } from '../cases/bench-case.ts';
import type { CaseLine } from '../cases/case-line.ts';
import { turnsOf } from './plan-bench.ts';

export interface CasesRun {
  readonly stage: CaseStage;
  readonly cases: readonly BenchCase[];
  readonly repeats: number;
  readonly file: LineFile<CaseLine>;
  readonly say: (text: string) => void;
  /** Ends the benchmark before the next run. */
  readonly signal: AbortSignal;
}

/** Runs each case whose lines are not all there, its parties by turns. Rejects when one fails, with its name. */
export async function runCases({ stage, cases, repeats, file, say, signal }: CasesRun): Promise<void> {
  const keyOf = (id: string, party: string, repeat: number) => `${id} ${party} ${repeat}`;
  const done = new Set(file.lines.map((line) => keyOf(line.case, line.party, line.repeat)));
  for (const { id, warmsUp, start } of cases) {
    signal.throwIfAborted();
    const { parties, stop } = await start(stage);
    try {
      for (let repeat = warmsUp ? 0 : 1; repeat <= repeats; repeat += 1) {
        for (const party of turnsOf(parties, repeat)) {
          if (done.has(keyOf(id, party.name, repeat))) continue;
          signal.throwIfAborted();
          const values = await measured(id, party);
          if (repeat === 0) continue;
          const load = machineLoad();
          file.append({ bench: 'relay-case', case: id, party: party.name, repeat, values, load });
          say(`${id}, ${party.name}: ${described(values)}`);
        }
      }
    } finally {
      await stop();
    }
  }
}

async function measured(id: string, party: Party): Promise<Record<string, number>> {
  try {
    return { ...(await party.measure()) };
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw new Error(`${id}, ${party.name}: ${reason}`, { cause: failure });
  }
}

function described(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
