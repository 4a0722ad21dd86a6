import type { RunningLeg } from '@longhaul/shared';
import type { askLegs } from '../ask/ask-legs.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { mayBeTold } from '../judge/rules.ts';
import { isByMaster } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';

interface LegsDependencies {
  readonly jobs: Pick<JobStore, 'get'>;
  readonly downloads: Pick<Downloads, 'get'>;
  /** As for downloads: switched off until the user has consented. */
  readonly settings: () => Promise<Settings>;
  readonly askLegs: typeof askLegs;
  readonly deadline: () => AbortSignal;
}

/**
 * What the legs of a running job do now, as the master that has planned it tells; `undefined` where nobody
 * does, or may be asked.
 */
export async function readLegs(
  key: string,
  { jobs, downloads, settings, askLegs, deadline }: LegsDependencies,
): Promise<readonly RunningLeg[] | undefined> {
  const job = await jobs.get(key);
  const set = await settings();
  if (job?.downloadId === undefined || job.way !== 'chain') return undefined;
  // The ticket is what lets a depot serve: it is for nobody else.
  if (!isByMaster(job.masterUrl, set.master) || !mayBeTold(job, set)) return undefined;
  // Chromium says which depot it was led to, and by which ticket; Firefox does not.
  const led = (await downloads.get(job.downloadId))?.finalUrl ?? '';
  const legs = await askLegs(set.master, led, deadline());
  return legs ?? askLegs(set.master, job.location ?? '', deadline());
}
