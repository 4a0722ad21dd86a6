import { loadavg } from 'node:os';
import { rounded } from './rounded.ts';

/** The machine's load over the last minute, which stands in each line: what else ran while it was measured. */
export function machineLoad(): number {
  return rounded(loadavg()[0] ?? 0, 2);
}
