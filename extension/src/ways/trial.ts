import { DIRECT_FRAGMENT } from '@longhaul/shared';
import type { Downloads } from '../browser/downloads.ts';
import type { Job } from '../jobs/job.ts';
import { isWorthNewStart, slowBps } from '../jobs/pace.ts';
import type { Outcome } from '../judge/why-left.ts';
import { leadsToDepot } from '../judge/why-unfit.ts';
import { parseUrl } from '../parse-url.ts';
import type { Settings } from '../settings/settings.ts';
import type { NameQuestions } from './name-questions.ts';

export interface TrialDependencies {
  readonly downloads: Downloads;
  readonly names: Pick<NameQuestions, 'asked'>;
  readonly settings: () => Promise<Settings>;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** Until then the head of the answer to the download itself must have come. */
const FIRST_ANSWER_MS = 6_000;
/**
 * What a download delivers before the original is ended: what an origin counts, or grants to one connection only, shows
 * by then.
 */
const TRIAL_BYTES = 2 * 1024 * 1024;
/** A trial ends by then: Chromium names a download by itself 15 s after it has asked. */
const TRIAL_MS = 10_000;
/** Between two looks at a trial. */
const TRIAL_LOOK_MS = 100;

/**
 * Waits until a download's successor has delivered enough, or shows that it will not, or the user ends one of
 * the two.
 */
export async function trySuccessor(
  { downloads, names, settings, now, pause }: TrialDependencies,
  job: Job,
  downloadId: number,
  {
    besideId,
    way,
    isAnew = false,
  }: {
    readonly besideId: number;
    readonly way: Job['way'];
    /** Whether an earlier life of the background began it, which was asked for the name. */
    readonly isAnew?: boolean;
  },
): Promise<Outcome | 'ended'> {
  const asked = parseUrl(job.originUrl);
  const startedMs = now();
  let isAsked = false;
  void names.asked(downloadId).then(() => {
    isAsked = true;
  });
  for (;;) {
    const own = await downloads.get(downloadId);
    const original = await downloads.get(besideId);
    if ([own, original].some((one) => !one || one.error === 'USER_CANCELED') || !own) return 'ended';
    // By the depot's address the browser would not know it again.
    if (original?.isWarnedOf) return { why: 'warned' };
    if (own.state === 'interrupted') return { why: 'depot-refused', detail: own.error ?? '' };
    const waitedMs = now() - startedMs;
    if (isAsked || (isAnew && own.bytesReceived > 0)) {
      const isIts = asked && leadsToDepot(own.finalUrl, asked, await settings());
      if (way === 'chain' && own.finalUrl.endsWith(DIRECT_FRAGMENT)) return { why: 'depot-refused' };
      if ((way === 'chain' && !isIts) || own.totalBytes !== job.file.totalBytes)
        return { why: 'different-file' };
      const wantedBytes = Math.min(TRIAL_BYTES, own.totalBytes ?? TRIAL_BYTES);
      if (own.bytesReceived >= wantedBytes || own.state === 'complete') return 'taken';
      // What would be left as too slow a moment later ends nothing.
      if (waitedMs > TRIAL_MS)
        return own.bytesReceived * 8_000 > slowBps(job) * waitedMs ? 'taken' : { why: 'depot-silent' };
    } else if (waitedMs > FIRST_ANSWER_MS) return { why: 'depot-silent' };
    await pause(TRIAL_LOOK_MS);
  }
}

/**
 * Whether a download that has just started gets ahead of another one, or shows by its rate that it ends in
 * half of its time; `ended` where the user has ended it.
 */
export async function showsWorth(
  { downloads, now, pause }: Pick<TrialDependencies, 'downloads' | 'now' | 'pause'>,
  id: number,
  aheadOfBytes: number,
  totalBytes: number,
  leftSeconds: number,
): Promise<boolean | 'ended'> {
  const startedMs = now();
  for (;;) {
    const own = await downloads.get(id);
    if (!own || own.error === 'USER_CANCELED') return 'ended';
    if (own.state === 'interrupted') return false;
    const { bytesReceived } = own;
    if (own.state === 'complete' || bytesReceived > aheadOfBytes) return true;
    const seconds = (now() - startedMs) / 1_000;
    const leftAnew = ((totalBytes - bytesReceived) * seconds) / bytesReceived;
    if (seconds * 1_000 >= TRIAL_MS) return isWorthNewStart(leftAnew, leftSeconds);
    await pause(TRIAL_LOOK_MS);
  }
}
