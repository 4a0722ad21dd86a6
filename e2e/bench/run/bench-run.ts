import type { LineFile } from '../../lab/results/result-file.ts';

/** What every benchmark is run with. */
export interface BenchRun<Line> {
  readonly repeats: number;
  /** Where its lines are kept; what they say already is not measured again. */
  readonly file: LineFile<Line>;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}
