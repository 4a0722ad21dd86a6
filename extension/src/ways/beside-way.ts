import { type Download, isUnwritable } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { GoOn, Lead } from '../jobs/continuation.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { doneMeanwhile, drop, hold, letGo } from '../jobs/own-download.ts';
import { isWorthNewStart } from '../jobs/pace.ts';
import { isWorthStartingOver, nextTryAtMs } from '../jobs/retry-times.ts';
import type { Outcome } from '../judge/why-left.ts';
import { kindOf } from '../settings/file-kind.ts';
import { directUrl } from '../url-fragment.ts';
import type { NameQuestions } from './name-questions.ts';
import {
  isKnownWrong,
  judgeOther,
  type OtherWay,
  type OtherWayDependencies,
  problemAt,
  unlessSilent,
  wantedWay,
  wayFromWrong,
  wayOverDepots,
} from './other-way.ts';
import { showsWorth, trySuccessor } from './trial.ts';
import {
  endOriginal,
  findOwn,
  headersOf,
  type LinkOrder,
  MAX_RESTARTS,
  newJob,
  orderOf,
  remembers,
  removeOther,
  type TakeOrder,
  type Way,
} from './way.ts';

export interface BesideWayDependencies extends OtherWayDependencies {
  readonly addonId: string;
  readonly downloads: Downloads;
  readonly jobs: JobStore;
  readonly names: Pick<NameQuestions, 'start' | 'asked' | 'give' | 'isUnprompted'>;
  /** For how long an interrupted download waits for its own depot alone. */
  readonly ownDepotMs: number;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** What the depot has just shown to somebody else comes within this time; a break may follow at once. */
const FIRST_BYTES_MS = 300;
/** In place of an infinite time, which storage does not know. */
const LONGEST_SECONDS = 1e9;

/** What stands on disk beside a new start; `leftSeconds`: where it was only slow. */
interface Old {
  readonly download: Download;
  readonly leftSeconds?: number;
}

/** What changes in a job whose file has been started over another way. */
type Started = Partial<Job> & { readonly downloadId: number };

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
    if (await this.#isForbidden(original)) return { why: 'warned' };
    const job = newJob(order, now(), { url: plan.masterUrl });
    if (!(await remembers(jobs, job))) return { why: 'no-room' };
    await downloads.pause(original.id).catch(() => undefined);
    const downloadId = await this.#start(job);
    if (downloadId === undefined) return this.#backToOriginal(job, undefined, { why: 'depot-silent' });
    await jobs.change(job.key, { downloadId });
    const outcome = await trySuccessor(this.#deps, job, downloadId, { besideId: original.id, way: 'chain' });
    if (outcome === 'ended') return this.#endBoth(job, downloadId);
    if (outcome !== 'taken') return this.#backToOriginal(job, downloadId, outcome);
    if (!(await endOriginal(downloads, original.id)))
      return this.#backToOriginal(job, downloadId, { why: 'finished' });
    names.give(downloadId, job.name);
    await jobs.change(job.key, { state: 'running' });
    return 'taken';
  }

  /**
   * Whether the browser has blocked a file of this kind: what the user's own click may have, an add-on's
   * download may not.
   */
  async #isForbidden({ name }: Download): Promise<boolean> {
    const kind = kindOf(name);
    const jobs = kind === '' ? [] : await this.#deps.jobs.all();
    return jobs.some((one) => one.interruption?.problem === 'FILE_BLOCKED' && kindOf(one.name) === kind);
  }

  async begin(order: LinkOrder): Promise<Outcome> {
    const { jobs, names, now } = this.#deps;
    const job = newJob(orderOf(order), now(), { url: order.plan.masterUrl });
    if (!(await remembers(jobs, job))) return { why: 'no-room' };
    const downloadId = await this.#start(job);
    if (downloadId === undefined) {
      await jobs.remove(job.key);
      return { why: 'depot-silent' };
    }
    names.give(downloadId, job.name);
    await jobs.change(job.key, { downloadId, state: 'running' });
    return 'taken';
  }

  async goOn(job: Job, download: Download): Promise<GoOn> {
    const { downloads } = this.#deps;
    const isOther = download.state === 'complete';
    const spare = await this.#standingSpare(job);
    if (isOther && !spare) return this.#inPlaceOf(job, download);
    if (isOther) await removeOther(downloads, download.id);
    if (spare) return this.#backToSpare(job, spare, download);
    if (isUnwritable(download)) return NOT_YET;
    const isStopped = download.state === 'interrupted';
    // The browser has dropped the bytes itself: nothing is lost by starting over.
    if (isStopped && !download.canResume) return this.#startOver(job, download);
    // A resumption that is answered 403 or 404 drops the bytes, and the browser allows five: so knock first.
    const problem = await problemAt(this.#deps, download.finalUrl, job, download.bytesReceived);
    if (isStopped && problem === undefined) {
      const done = await doneMeanwhile(downloads, download);
      if (done) return done;
      await downloads.resume(download.id).catch(() => undefined);
      await this.#deps.pause(FIRST_BYTES_MS);
      const resumed = await downloads.get(download.id);
      if (resumed?.state === 'in_progress') await this.recovered(job, download);
      // Past its budget it says yes and sends nothing.
      return resumed?.state === 'interrupted' ? { result: 'click' } : { result: 'tried' };
    }
    // What the origin itself says of it ends no other download: that would be a loop.
    const isWrong = isStopped && job.way === 'chain' && problem && isKnownWrong(problem);
    if (isWrong && !job.wasAsked) return this.#startOverFromWrong(job, download);
    const waitedMs = this.#deps.now() - (job.interruption?.sinceMs ?? this.#deps.now());
    const over = await this.#startOver(job, download, waitedMs);
    if (over.result === 'moved') return over;
    return { result: 'not-yet', problem: problem?.problem ?? '' };
  }

  /** What is whole is not the file: that starts again, and has its name. */
  async #inPlaceOf(job: Job, other: Download): Promise<GoOn> {
    const { downloads, names } = this.#deps;
    if (!mayStartAnew(job)) return { result: 'lost' };
    const way = await newWay(this.#deps, job, []);
    if (!way) return judgeOther(this.#deps, job, other);
    const patch = await this.#startBeside(job, way, undefined);
    if (!patch) return NOT_YET;
    await removeOther(downloads, other.id);
    names.give(patch.downloadId, job.name);
    return { result: 'moved', patch };
  }

  /**
   * What is on disk is wrong, and goes once something else has begun: that is no loop, since of what comes
   * from the origin nobody says so any more.
   */
  async #startOverFromWrong(job: Job, download: Download): Promise<GoOn> {
    const { way, problem = '' } = await wayFromWrong(this.#deps, job);
    if (!way) return { result: 'not-yet', problem };
    const done = await doneMeanwhile(this.#deps.downloads, download);
    if (done) return done;
    const over = await this.#moveTo(job, way, undefined);
    if (over.result === 'moved') await drop(this.#deps.downloads, download.id);
    return over;
  }

  async lead(job: Job, download: Download, to: Lead): Promise<GoOn> {
    // What two downloads have on disk is enough.
    if (job.spare || job.wasAsked) return NOT_YET;
    const way = await wantedWay(this.#deps, job, to, 0);
    if (!way || (await doneMeanwhile(this.#deps.downloads, download))) return NOT_YET;
    if (download.state !== 'interrupted') return this.#replace(job, download, way);
    return this.#moveTo(job, way, { download });
  }

  /**
   * Starts at the first byte over another way, and ends what runs once the new download has shown that it delivers:
   * Chromium gives nobody a name that a running download has.
   */
  async #replace(job: Job, old: Download, way: OtherWay): Promise<GoOn> {
    const { downloads, names } = this.#deps;
    const anew = await this.#startAnew(job, way);
    if (!anew) return NOT_YET;
    const { downloadId } = anew;
    // The user has chosen it, however slow it is.
    const chosen = { ...job, promisedBps: undefined };
    const outcome = await trySuccessor(this.#deps, chosen, downloadId, { besideId: old.id, way: way.way });
    if (outcome !== 'taken' || !(await endOriginal(downloads, old.id))) {
      await this.#dropUnnamed(downloadId);
      return NOT_YET;
    }
    names.give(downloadId, job.name);
    return { result: 'moved', patch: anew };
  }

  /**
   * Another download starts beside the slow one, which pauses, if it is to end in half of the time left; the
   * slow one goes when the other has shown that it will. Else it goes on. The name is free for the other only
   * when the slow one has gone.
   */
  async change(
    job: Job,
    download: Download,
    leftSeconds: number,
  ): Promise<Partial<Job> | 'nobody' | undefined> {
    const { downloads, jobs, names } = this.#deps;
    const { totalBytes } = job.file;
    const isWorth = (wholeSeconds: number) => isWorthNewStart(wholeSeconds, leftSeconds);
    if (job.spare || totalBytes === undefined || !mayStartAnew(job)) return undefined;
    if (!isWorth(Math.min(job.predictedSeconds, job.directSeconds))) return undefined;
    const way = await unlessSilent(this.#deps, (deps) => newWay(deps, job, job.chain));
    if (way === 'nobody') return way;
    if (!way || !isWorth(way.predictedSeconds ?? job.directSeconds)) return undefined;
    if (await doneMeanwhile(downloads, download)) return undefined;
    await hold(this.#deps, job, download.id);
    const old = { download, leftSeconds: Math.min(leftSeconds, LONGEST_SECONDS) };
    const patch = await this.#startBeside(job, way, old);
    if (!patch) {
      letGo(downloads, download.id);
      return undefined;
    }
    const { downloadId } = patch;
    const worth = await showsWorth(this.#deps, downloadId, download.bytesReceived, totalBytes, leftSeconds);
    if (worth === 'ended') {
      // The job's download ends as any other does that its user has ended, and what is held beside it, too.
      names.give(downloadId, '');
      return undefined;
    }
    const spare = worth ? undefined : await this.#standingSpare(patch);
    if (spare) {
      const tried = (await downloads.get(downloadId)) ?? { id: downloadId };
      await this.#backToSpare({ ...job, restarts: job.restarts + 1 }, spare, tried);
      names.give(downloadId, '');
      return undefined;
    }
    await drop(downloads, download.id);
    names.give(downloadId, job.name);
    await jobs.change(job.key, { spare: undefined });
    return { ...patch, spare: undefined };
  }

  /**
   * Pausing and resuming costs no request here, and gives the browser its five resumptions back. One whose
   * connection does not stand yet takes no notice of being resumed until it does: the keeper's looks repeat
   * it.
   */
  async recovered(job: Job, download: Download): Promise<void> {
    await hold(this.#deps, job, download.id);
    letGo(this.#deps.downloads, download.id);
  }

  async release(): Promise<void> {
    // Nothing was set up.
  }

  /** It resumes where it was led to, as all do. */
  async adopt({ key, downloadId }: Job): Promise<void> {
    const { jobs, names } = this.#deps;
    const wasAsked = downloadId !== undefined && !(await names.isUnprompted(downloadId));
    if (wasAsked) await jobs.change(key, { wasAsked });
  }

  async recover(job: Job): Promise<void> {
    const { downloads, jobs, addonId } = this.#deps;
    const own =
      (job.downloadId === undefined ? undefined : await downloads.get(job.downloadId)) ??
      (await findOwn(downloads, job, addonId));
    const { originalId } = job;
    const original = await downloads.get(originalId);
    // It was being ended already: what has taken its place is all that there is.
    const isEnded = !original || original.error === 'USER_CANCELED';
    const trial = { besideId: originalId, way: 'chain', isAnew: true } as const;
    const outcome = own && (isEnded ? 'taken' : await trySuccessor(this.#deps, job, own.id, trial));
    if (own && outcome === 'ended') await this.#endBoth(job, own.id);
    else if (own && outcome === 'taken' && (await endOriginal(downloads, originalId)))
      await jobs.change(job.key, { downloadId: own.id, state: 'running' });
    else await this.#backToOriginal(job, own?.id, { why: 'finished' });
  }

  /** `undefined` when the browser refuses. */
  #start(job: Job, url = job.url): Promise<number | undefined> {
    return this.#deps.names.start({ url, name: job.name, headers: headersOf(job) }).catch(() => undefined);
  }

  /** Starts a job's file over another way, without a name yet; gives what changes in the job. */
  async #startAnew(job: Job, way: OtherWay): Promise<Started | undefined> {
    const url = way.masterUrl ?? directUrl(job.originUrl);
    const downloadId = await this.#start({ ...job, ...way }, url);
    return downloadId === undefined ? undefined : { ...way, url, downloadId, bytes: 0 };
  }

  /** Who ends one of the two means both. */
  async #endBoth(job: Job, downloadId: number): Promise<Outcome> {
    const { downloads, jobs } = this.#deps;
    await this.#dropUnnamed(downloadId);
    await drop(downloads, job.originalId);
    await jobs.remove(job.key);
    return { why: 'finished' };
  }

  /** Ends a download whose name the browser still waits for. */
  async #dropUnnamed(downloadId: number): Promise<void> {
    const { downloads, names } = this.#deps;
    await drop(downloads, downloadId);
    names.give(downloadId, '');
  }

  /** The successor did not do: it goes, and the original goes on where it paused. */
  async #backToOriginal(job: Job, downloadId: number | undefined, outcome: Outcome): Promise<Outcome> {
    const { downloads, jobs } = this.#deps;
    if (downloadId !== undefined) await this.#dropUnnamed(downloadId);
    await downloads.resume(job.originalId).catch(() => undefined);
    await jobs.remove(job.key);
    return outcome;
  }

  /** What stands beside a job's download, unless the user has taken it away: then what is new is all that there is. */
  async #standingSpare({ spare }: Partial<Pick<Job, 'spare'>>): Promise<Job['spare']> {
    const there = spare && (await this.#deps.downloads.get(spare.downloadId));
    return there && there.error !== 'USER_CANCELED' ? spare : undefined;
  }

  /** The new download broke, or is slow, before it had delivered more than the old one: the old one counts again. */
  async #backToSpare(
    job: Job,
    spare: NonNullable<Job['spare']>,
    own: Pick<Download, 'id'> & Partial<Download>,
  ): Promise<Extract<GoOn, { result: 'moved' }>> {
    const { jobs, downloads, now } = this.#deps;
    const { interruption: old, leftSeconds, ...back } = spare;
    const tries = (old?.tries ?? 0) + 1;
    const nextMs = old && nextTryAtMs(old.sinceMs, tries, now());
    const interruption = old && { ...old, tries, nextTryAtMs: nextMs ?? old.nextTryAtMs };
    const state = leftSeconds === undefined ? 'waiting' : 'running';
    const gone = { spare: undefined, pace: undefined, choseDirect: false } as const;
    // For two copies there is no room.
    const restarts = isUnwritable(own) ? MAX_RESTARTS : job.restarts;
    const patch = { ...back, ...gone, interruption, state, restarts } as const;
    await jobs.change(job.key, patch);
    await drop(downloads, own.id);
    if (leftSeconds !== undefined) await downloads.resume(spare.downloadId).catch(() => undefined);
    return { result: 'moved', patch };
  }

  /**
   * Starts again through other depots, or directly where there are none, beside what is on disk. `waitedMs`:
   * for how long that has waited; left out where nothing is.
   */
  async #startOver(job: Job, old: Download, waitedMs?: number): Promise<GoOn> {
    const { downloads, ownDepotMs } = this.#deps;
    const isGone = waitedMs === undefined;
    const onDisk = { bytes: old.bytesReceived, totalBytes: job.file.totalBytes };
    const isWorth = (wholeSeconds: number) =>
      isGone || isWorthStartingOver(waitedMs, { ...onDisk, wholeSeconds, ownDepotMs });
    if (!mayStartAnew(job)) return isGone ? { result: 'lost' } : NOT_YET;
    if (!isWorth(Math.min(job.predictedSeconds, job.directSeconds))) return NOT_YET;
    const way = await newWay(this.#deps, job, job.chain.slice(0, 1));
    if (!way || !isWorth(way.predictedSeconds ?? job.directSeconds)) return NOT_YET;
    const done = await doneMeanwhile(downloads, old);
    return done ?? this.#moveTo(job, way, isGone ? undefined : { download: old });
  }

  /** What starts beside what is on disk has the file's name at once. */
  async #moveTo(job: Job, way: OtherWay, old: Old | undefined): Promise<GoOn> {
    const patch = await this.#startBeside(job, way, old);
    if (!patch) return NOT_YET;
    this.#deps.names.give(patch.downloadId, job.name);
    return { result: 'moved', patch };
  }

  /**
   * Starts a job's file over another way, without a name yet; what is on disk becomes its spare. `undefined`
   * when the browser refuses.
   */
  async #startBeside(job: Job, other: OtherWay, old: Old | undefined): Promise<Started | undefined> {
    const anew = await this.#startAnew(job, other);
    if (!anew) return undefined;
    const { url, way, chain, interruption, isHeld, promisedBps, directBps } = job;
    const before = { url, way, chain, interruption, isHeld, promisedBps, directBps };
    const spare = old && {
      ...before,
      downloadId: old.download.id,
      bytes: old.download.bytesReceived,
      leftSeconds: old.leftSeconds,
    };
    const patch = {
      ...anew,
      state: 'running',
      isHeld: undefined,
      pace: undefined,
      spare,
      restarts: job.restarts + 1,
      interruption: undefined,
    } as const;
    await this.#deps.jobs.change(job.key, patch);
    return patch;
  }
}

/**
 * A way past these depots; the origin itself when the master knows none. `undefined` when
 * nobody shows the file, as while the network is away.
 */
async function newWay(
  deps: OtherWayDependencies,
  job: Job,
  avoid: readonly string[],
): Promise<OtherWay | undefined> {
  const chain = job.choseDirect || job.isOriginsOnly ? undefined : await wayOverDepots(deps, job, [avoid], 0);
  return chain ?? wantedWay(deps, job, 'direct', 0);
}

/** Whether a job's file may begin at its first byte once more, in the folder of those that nobody was asked about. */
function mayStartAnew({ restarts, wasAsked }: Job): boolean {
  return !wasAsked && restarts < MAX_RESTARTS;
}
