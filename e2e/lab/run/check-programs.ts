import { rivalOf } from '../experiment.ts';
import { type LabProgram, requireProgram } from '../programs.ts';
import type { RunPlan } from './plan-run.ts';

/**
 * Names the programs that a plan needs, before anything is set up.
 * @throws {LabRefusal} `lab-needs-program` with the package that has a missing one.
 */
export function checkPrograms(plan: RunPlan): readonly string[] {
  const programs = new Set<LabProgram>(['curl']);
  for (const { turns } of plan.stints) {
    for (const { scenario, variant } of turns.flatMap(({ transfers }) => transfers)) {
      const way = scenario.variants[variant];
      if (way?.kind === 'aria2') programs.add('aria2c');
      const rival = way && rivalOf(way);
      if (rival) programs.add(rival === 'nginx' ? 'nginx' : 'haproxy');
    }
  }
  for (const program of programs) requireProgram(program);
  return [...programs];
}
