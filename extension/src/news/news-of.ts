import { type Job, waitsForUser } from '../jobs/job.ts';

/** What the user should hear of although no page of the add-on is open. */
export interface News {
  readonly kind: 'failed' | 'rescued';
  readonly job: Job;
}

/**
 * What a change of the jobs is worth telling: one that begins to wait for the user, and one that is whole
 * after a break.
 */
export function newsOf(before: readonly Job[], after: readonly Job[]): readonly News[] {
  return after.flatMap((job): readonly News[] => {
    const old = before.find(({ key }) => key === job.key);
    if (!old || old.state === job.state) return [];
    if (waitsForUser(job)) return waitsForUser(old) ? [] : [{ kind: 'failed', job }];
    const wasRescued = job.state === 'done' && (job.restarts > 0 || (job.breaks ?? 0) > 0);
    return wasRescued ? [{ kind: 'rescued', job }] : [];
  });
}

/** The jobs that have just become whole. */
export function justDone(before: readonly Job[], after: readonly Job[]): readonly Job[] {
  return after.filter(
    (job) => job.state === 'done' && before.some(({ key, state }) => key === job.key && state !== 'done'),
  );
}
