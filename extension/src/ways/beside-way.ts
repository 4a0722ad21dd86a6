import { parseOriginUrl } from '@longhaul/shared';
import type { askMaster } from '../ask/ask-master.ts';
import type { probeFile } from '../ask/probe-file.ts';
import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { Job } from '../jobs/job.ts';
import { drop, type GoOn, type Lead } from '../jobs/job-keeper.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { isWorthStartingOver, nextTryAtMs } from '../jobs/retry-times.ts';
import { isSameFile } from '../judge/file-facts.ts';
import type { Outcome } from '../judge/why-left.ts';
import { leadsToDepot, whyUnfit } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';
import { directUrl } from '../url-fragment.ts';
import type { NameQuestions } from './name-questions.ts';
import {
  endOriginal,
  findOwn,
  headersOf,
  type LinkOrder,
  MAX_RESTARTS,
  newJob,
  orderOf,
  problemOf,
  type TakeOrder,
  type Way,
  wayOf,
} from './way.ts';

export interface BesideWayDependencies {
  readonly addonId: string;
  readonly downloads: Downloads;
  readonly jobs: JobStore;
  readonly names: Pick<NameQuestions, 'start' | 'asked' | 'give'>;
  readonly settings: () => Promise<Settings>;
  readonly askMaster: typeof askMaster;
  readonly probeFile: typeof probeFile;
  readonly deadline: () => AbortSignal;
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
/** What the depot has just shown to somebody else comes within this time; a break may follow at once. */
const FIRST_BYTES_MS = 300;
/** Between two looks at a trial. */
const TRIAL_LOOK_MS = 100;

/** What changes in a job that goes another way. */
type NewWay = Pick<Job, 'url' | 'way' | 'chain'> & Partial<Job>;

const NOT_YET: GoOn = { result: 'not-yet', problem: '' };

/**
 * Chromium: it resumes at the address it was led to last and nowhere else, but keeps the connection of a paused
 * download, and leaves the name of another one open for as long as it likes. So the original pauses while its successor
 * shows what it delivers, and what would be given up stands beside what shall be better until that is better.
 */
export class BesideWay implements Way {
  readonly standsBeside = true;
  readonly #deps: BesideWayDependencies;

  constructor(deps: BesideWayDependencies) {
    this.#deps = deps;
  }

  async take(order: TakeOrder): Promise<Outcome> {
    const { downloads, jobs, names, now } = this.#deps;
    const { original, plan } = order;
    const job = newJob(order, now(), { url: plan.masterUrl, routeId: 0 });
    await jobs.add(job);
    await downloads.pause(original.id).catch(() => undefined);
    const downloadId = await names.start({ url: job.url, headers: headersOf(job) }).catch(() => undefined);
    if (downloadId === undefined) return this.#backToOriginal(job, undefined, { why: 'depot-silent' });
    await jobs.change(job.key, { downloadId });
    const outcome = await this.#try(job, downloadId, { besideId: original.id, way: 'chain' });
    if (outcome === 'ended') return this.#endBoth(job, downloadId);
    if (outcome !== 'taken') return this.#backToOriginal(job, downloadId, outcome);
    if (!(await endOriginal(downloads, original.id)))
      return this.#backToOriginal(job, downloadId, { why: 'finished' });
    names.give(downloadId, job.name);
    await jobs.change(job.key, { state: 'running' });
    return 'taken';
  }

  async begin(order: LinkOrder): Promise<Outcome> {
    const { jobs, names, now } = this.#deps;
    const job = newJob(orderOf(order), now(), { url: order.plan.masterUrl, routeId: 0 });
    await jobs.add(job);
    const downloadId = await names.start({ url: job.url }).catch(() => undefined);
    if (downloadId === undefined) {
      await jobs.remove(job.key);
      return { why: 'depot-silent' };
    }
    names.give(downloadId, job.name);
    await jobs.change(job.key, { downloadId, state: 'running' });
    return 'taken';
  }

  async goOn(job: Job, download: Download): Promise<GoOn> {
    const { downloads, probeFile, deadline } = this.#deps;
    if (job.spare) return this.#backToSpare(job, job.spare, download.id);
    const isStopped = download.state === 'interrupted';
    // The browser has dropped the bytes itself: nothing is lost by starting over.
    if (isStopped && !download.canResume) return this.#startOver(job, undefined, 0);
    // A resumption that is answered 403 or 404 drops the bytes, and the browser allows five: so knock first.
    const probe = await probeFile(download.finalUrl, deadline(), download.bytesReceived);
    if (isStopped && probe.result === 'file' && isSameFile(job.file, probe.file)) {
      await downloads.resume(download.id).catch(() => undefined);
      await this.#deps.pause(FIRST_BYTES_MS);
      const resumed = await downloads.get(download.id);
      if (resumed?.state === 'in_progress') await this.recovered(job, download);
      // Past its budget it says yes and sends nothing.
      return resumed?.state === 'interrupted' ? { result: 'click' } : { result: 'tried' };
    }
    const waitedMs = this.#deps.now() - (job.interruption?.sinceMs ?? this.#deps.now());
    const over = await this.#startOver(job, download, waitedMs);
    if (over.result === 'moved') return over;
    return { result: 'not-yet', problem: problemOf(probe) };
  }

  async lead(job: Job, download: Download, to: Lead): Promise<GoOn> {
    // What two downloads have on disk is enough.
    if (job.spare) return NOT_YET;
    const way =
      to === 'direct'
        ? await this.#directWay(job)
        : await this.#chainWay(job, [job.chain, job.chain.slice(0, 1)]);
    if (!way) return NOT_YET;
    return download.state === 'interrupted'
      ? this.#beginBeside(job, download, way)
      : this.#replace(job, download, way);
  }

  /**
   * Starts at the first byte over another way, and ends what runs once the new download has shown that it delivers:
   * Chromium gives nobody a name that a running download has.
   */
  async #replace(job: Job, old: Download, way: NewWay): Promise<GoOn> {
    const { downloads, names } = this.#deps;
    const downloadId = await names.start({ url: way.url, headers: headersOf(job) }).catch(() => undefined);
    if (downloadId === undefined) return NOT_YET;
    const outcome = await this.#try(job, downloadId, { besideId: old.id, way: way.way });
    if (outcome !== 'taken' || !(await endOriginal(downloads, old.id))) {
      await drop(downloads, downloadId);
      names.give(downloadId, '');
      return NOT_YET;
    }
    names.give(downloadId, job.name);
    return { result: 'moved', patch: { ...way, downloadId, bytes: 0 } };
  }

  /** Pausing and resuming costs no request here, and gives the browser its five resumptions back. */
  async recovered(_job: Job, download: Download): Promise<void> {
    const { downloads } = this.#deps;
    await downloads.pause(download.id).catch(() => undefined);
    await downloads.resume(download.id).catch(() => undefined);
  }

  async release(): Promise<void> {
    // Nothing was set up.
  }

  async recover(job: Job): Promise<void> {
    const { downloads, jobs, addonId } = this.#deps;
    const own =
      (job.downloadId === undefined ? undefined : await downloads.get(job.downloadId)) ??
      (await findOwn(downloads, job, addonId));
    if (!own || own.state === 'interrupted') {
      await this.#backToOriginal(job, own?.id, { why: 'depot-silent' });
      return;
    }
    await endOriginal(downloads, job.originalId);
    await jobs.change(job.key, { downloadId: own.id, state: 'running' });
  }

  /** Waits until the successor has delivered enough, or shows that it will not, or the user ends one of the two. */
  async #try(
    job: Job,
    downloadId: number,
    { besideId, way }: { readonly besideId: number; readonly way: Job['way'] },
  ): Promise<Outcome | 'ended'> {
    const { downloads, names, settings, now, pause } = this.#deps;
    const asked = parseOriginUrl(job.originUrl);
    const startedMs = now();
    let isAsked = false;
    void names.asked(downloadId).then(() => {
      isAsked = true;
    });
    for (;;) {
      const own = await downloads.get(downloadId);
      const original = await downloads.get(besideId);
      if ([own, original].some((one) => !one || one.error === 'USER_CANCELED') || !own) return 'ended';
      if (own.state === 'interrupted') return { why: 'depot-refused', detail: own.error ?? '' };
      const waitedMs = now() - startedMs;
      if (isAsked) {
        const isIts = asked.ok && leadsToDepot(own.finalUrl, asked.value, await settings());
        if ((way === 'chain' && !isIts) || own.totalBytes !== job.file.totalBytes)
          return { why: 'different-file' };
        const wantedBytes = Math.min(TRIAL_BYTES, own.totalBytes ?? TRIAL_BYTES);
        if (own.bytesReceived >= wantedBytes || own.state === 'complete') return 'taken';
        if (waitedMs > TRIAL_MS) return own.bytesReceived > 0 ? 'taken' : { why: 'depot-silent' };
      } else if (waitedMs > FIRST_ANSWER_MS) return { why: 'depot-silent' };
      await pause(TRIAL_LOOK_MS);
    }
  }

  /** Who ends one of the two means both. */
  async #endBoth(job: Job, downloadId: number): Promise<Outcome> {
    const { downloads, jobs, names } = this.#deps;
    await drop(downloads, downloadId);
    names.give(downloadId, '');
    await drop(downloads, job.originalId);
    await jobs.remove(job.key);
    return { why: 'finished' };
  }

  /** The successor did not do: it goes, and the original goes on where it paused. */
  async #backToOriginal(job: Job, downloadId: number | undefined, outcome: Outcome): Promise<Outcome> {
    const { downloads, jobs, names } = this.#deps;
    if (downloadId !== undefined) {
      await drop(downloads, downloadId);
      names.give(downloadId, '');
    }
    await downloads.resume(job.originalId).catch(() => undefined);
    await jobs.remove(job.key);
    return outcome;
  }

  /** The new download broke before it had delivered more than the old one: the old one counts again. */
  async #backToSpare(job: Job, spare: NonNullable<Job['spare']>, downloadId: number): Promise<GoOn> {
    const { jobs, downloads, now } = this.#deps;
    const { interruption: old } = spare;
    const tries = (old?.tries ?? 0) + 1;
    const nextMs = old && nextTryAtMs(old.sinceMs, tries, now());
    const interruption = old && { ...old, tries, nextTryAtMs: nextMs ?? old.nextTryAtMs };
    const patch = { ...spare, spare: undefined, choseDirect: false, interruption, state: 'waiting' } as const;
    await jobs.change(job.key, patch);
    await drop(downloads, downloadId);
    return { result: 'moved', patch };
  }

  /** Starts again through other depots, or directly where there are none, beside what is on disk. */
  async #startOver(job: Job, old: Download | undefined, waitedMs: number): Promise<GoOn> {
    const bytes = old?.bytesReceived ?? 0;
    const isWorth = (wholeSeconds: number) =>
      old === undefined ||
      isWorthStartingOver(waitedMs, { bytes, totalBytes: job.file.totalBytes, wholeSeconds });
    if (job.restarts >= MAX_RESTARTS) return old ? NOT_YET : { result: 'lost' };
    if (!isWorth(Math.min(job.predictedSeconds, job.directSeconds))) return NOT_YET;
    const way = await this.#newWay(job);
    if (!way || !isWorth(way.predictedSeconds ?? job.directSeconds)) return NOT_YET;
    return this.#beginBeside(job, old, { ...way, restarts: job.restarts + 1 });
  }

  /** Begins at the first byte over another way; what the old download has stands until the new one has more. */
  async #beginBeside(job: Job, old: Download | undefined, way: NewWay): Promise<GoOn> {
    const { jobs, names } = this.#deps;
    const downloadId = await names.start({ url: way.url, headers: headersOf(job) }).catch(() => undefined);
    if (downloadId === undefined) return NOT_YET;
    const { url, way: oldWay, chain, interruption } = job;
    const spare = old && {
      downloadId: old.id,
      bytes: old.bytesReceived,
      url,
      way: oldWay,
      chain,
      interruption,
    };
    const patch = { ...way, downloadId, bytes: 0, spare, interruption: undefined };
    await jobs.change(job.key, patch);
    names.give(downloadId, job.name);
    return { result: 'moved', patch: { ...patch, state: 'running' } };
  }

  /**
   * A way past the entry depot that does not answer; the origin itself when the master knows none. `undefined` when
   * nobody shows the file, as while the network is away.
   */
  async #newWay(job: Job): Promise<NewWay | undefined> {
    const chain = job.choseDirect ? undefined : await this.#chainWay(job, [job.chain.slice(0, 1)]);
    return chain ?? this.#directWay(job);
  }

  /** A way over depots that avoids the first of these lists for which there is one. */
  async #chainWay(job: Job, avoided: readonly (readonly string[])[]): Promise<NewWay | undefined> {
    const { settings, askMaster } = this.#deps;
    const set = await settings();
    const { totalBytes } = job.file;
    const size = totalBytes === undefined ? {} : { sizeBytes: totalBytes };
    for (const avoid of avoided) {
      const request = { url: job.originUrl, avoid: [...avoid], ...size };
      const reply = await askMaster(set.master, request, this.#deps.deadline());
      if (reply.result !== 'plan' || whyUnfit(reply.plan, job.originUrl, set) !== undefined) continue;
      const { location, masterUrl } = reply.plan;
      if (await this.#hasFile(location, job)) return { ...wayOf(reply.plan), url: masterUrl };
    }
    return undefined;
  }

  async #directWay(job: Job): Promise<NewWay | undefined> {
    if (!(await this.#hasFile(job.originUrl, job))) return undefined;
    return { url: directUrl(job.originUrl), way: 'direct', chain: [] };
  }

  async #hasFile(place: string, { file }: Job): Promise<boolean> {
    const probe = await this.#deps.probeFile(place, this.#deps.deadline());
    return probe.result === 'file' && isSameFile(file, probe.file);
  }
}
