import type { NeighbourLeg } from '@longhaul/shared';
import { joinNeighbours, type LegSummaries } from './leg-summaries.ts';

/** Which transfers of which job have connections here now, so that a master can be told while somebody looks. */
export class RunningLegs {
  readonly #ofJobs = new Map<string, Set<LegSummaries>>();

  /** Takes in the legs of a transfer; call the result when it has ended. */
  add(jobId: string, legs: LegSummaries): () => void {
    const ofJob = this.#ofJobs.get(jobId) ?? new Set();
    this.#ofJobs.set(jobId, ofJob.add(legs));
    return () => {
      ofJob.delete(legs);
      if (ofJob.size === 0) this.#ofJobs.delete(jobId);
    };
  }

  /** What the connections of a job do now, by neighbour; nothing where none runs. */
  of(jobId: string): readonly NeighbourLeg[] {
    return joinNeighbours([...(this.#ofJobs.get(jobId) ?? [])].flatMap((legs) => legs.now()));
  }
}
