import { HEADERS } from '@longhaul/shared';
import { AGAIN_AFTER_MS, MOST_TRIES } from '../ask/probe-file.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Outcome } from '../judge/why-left.ts';
import type { SeenAnswer, SeenAnswers } from '../watch/seen-answers.ts';
import { directStart } from './direct-start.ts';
import type { JobRules } from './job-rules.ts';
import { DIRECT } from './other-way.ts';
import { judgeOwnAnswer, removeOther } from './way.ts';

export interface LedStartDependencies {
  readonly downloads: Downloads;
  readonly jobs: JobStore;
  readonly answers: Pick<SeenAnswers, 'nextOwnAnswer'>;
  readonly pause: (ms: number) => Promise<void>;
}

/** What became of a download that was started to be led. */
interface LedTry {
  /** `undefined` where the browser started none. */
  readonly downloadId: number | undefined;
  readonly seen: SeenAnswer | undefined;
  readonly isBroken: boolean;
}

/** Until then the depot's answer to the download itself must have come. */
const FIRST_ANSWER_MS = 8_000;

/** Starts led downloads, and takes them when the first answer to them is the file. */
export class LedStart {
  readonly #deps: LedStartDependencies;
  readonly #rules: JobRules;

  constructor(deps: LedStartDependencies, rules: JobRules) {
    this.#deps = deps;
    this.#rules = rules;
  }

  /**
   * Starts the download that the rule leads to the master, and judges what the depot answers. Where its
   * connection breaks before that it is started again: Firefox may have gone to the one depot of a name that
   * is gone, as a probe may.
   */
  async start(job: Job): Promise<Outcome> {
    const { jobs, pause } = this.#deps;
    let tried = await this.#tryLed(job);
    for (let tries = 1; tried.isBroken && tried.downloadId !== undefined && tries < MOST_TRIES; tries += 1) {
      await pause(AGAIN_AFTER_MS);
      if (await this.#isCancelled(tried)) break;
      await this.#discard(tried.downloadId);
      tried = await this.#tryLed(job);
    }
    const outcome = judgeOwnAnswer(tried.seen, job.file);
    if (await this.#isCancelled(tried)) {
      await this.#rules.release(job);
      await jobs.remove(job.key);
      return { why: 'finished' };
    }
    if (outcome !== 'taken') return this.backToOrigin(job, tried.downloadId, outcome);
    // A depot that does not get it leads to the origin itself, and so does a master that plans anew: that has
    // given it now.
    const servedBy = serverIn(tried.seen);
    if (servedBy === undefined) await this.#rules.lead({ ...job, ...DIRECT });
    await jobs.change(job.key, { ...(servedBy === undefined ? DIRECT : {}), state: 'running', servedBy });
    return 'taken';
  }

  /** Whether the user has ended it meanwhile: then nobody wants it from elsewhere. */
  async #isCancelled({ downloadId }: LedTry): Promise<boolean> {
    if (downloadId === undefined) return false;
    const now = await this.#deps.downloads.get(downloadId);
    return now === undefined || (now.error === 'USER_CANCELED' && !now.paused);
  }

  /** `isBroken`: its connection ended before an answer came, and before the time for it was over. */
  async #tryLed(job: Job): Promise<LedTry> {
    const { downloads, jobs, answers, pause } = this.#deps;
    const answer = answers.nextOwnAnswer(job.url);
    const downloadId = await downloads
      .start({ url: job.url, name: job.name, outlives: true })
      .catch(() => undefined);
    if (downloadId === undefined) return { downloadId, seen: undefined, isBroken: false };
    await jobs.change(job.key, { downloadId });
    const seen = await Promise.race([answer, pause(FIRST_ANSWER_MS).then(() => 'late' as const)]);
    return seen === 'late'
      ? { downloadId, seen: undefined, isBroken: false }
      : { downloadId, seen, isBroken: seen === undefined };
  }

  /** The depot did not give the file: it is downloaded as if there were no add-on. */
  async backToOrigin(job: Job, downloadId: number | undefined, outcome: Outcome): Promise<Outcome> {
    const { downloads, jobs } = this.#deps;
    await this.#rules.release(job);
    if (downloadId !== undefined) await this.#discard(downloadId);
    try {
      await downloads.start(directStart(job.originUrl, job.page, job.name));
      await jobs.remove(job.key);
    } catch {
      await jobs.change(job.key, { state: 'lost', downloadId: undefined });
    }
    return outcome;
  }

  /** What is not the file may be there as a whole already, under the name that the file is to have. */
  async #discard(downloadId: number): Promise<void> {
    const { downloads } = this.#deps;
    await downloads.cancel(downloadId).catch(() => undefined);
    const ended = await downloads.get(downloadId);
    if (ended?.state === 'complete') await removeOther(downloads, downloadId);
    else await downloads.erase(downloadId).catch(() => undefined);
  }
}

/** The depot that an answer is from, as it says. */
export function serverIn(seen: SeenAnswer | undefined): string | undefined {
  return seen?.headers.get(HEADERS.depot) ?? undefined;
}
