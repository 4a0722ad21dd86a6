import type { whoIsAt } from '../ask/probe-file.ts';
import type { Download } from '../browser/download.ts';
import type { GoOn, Lead } from '../jobs/continuation.ts';
import { FROM_BEFORE, type Job } from '../jobs/job.ts';
import { doneMeanwhile, drop, hold, letGo } from '../jobs/own-download.ts';
import { standstillLooks } from '../jobs/standstill.ts';
import { versionIn } from '../judge/file-facts.ts';
import type { Outcome } from '../judge/why-left.ts';
import type { SeenAnswer } from '../watch/seen-answers.ts';
import { JobRules, type JobRulesDependencies } from './job-rules.ts';
import { LedStart, type LedStartDependencies, serverIn } from './led-start.ts';
import {
  DIRECT,
  type Found,
  isKnownWrong,
  judgeOther,
  type OtherWay,
  type OtherWayDependencies,
  planAnew,
  proved,
  unlessSilent,
  wantedWay,
  wayFromWrong,
} from './other-way.ts';
import {
  endOriginal,
  findOwn,
  type LinkOrder,
  MAX_RESTARTS,
  newJob,
  orderOf,
  remembers,
  removeOther,
  type TakeOrder,
  type Way,
} from './way.ts';

export interface LedWayDependencies extends OtherWayDependencies, JobRulesDependencies, LedStartDependencies {
  readonly addonId: string;
  readonly whoIsAt: typeof whoIsAt;
  readonly now: () => number;
}

/** What is shorter is nothing to anybody, and a depot that is gone repairs nothing. */
const STILL_MS = 2_500;
/**
 * So much of a file's end may be lacking where a depot has broken it off before its last byte: what is on its
 * way then is lost, too.
 */
const LOST_WITH_END_BYTES = 16_777_216;
/** Attempts to go on through the master before the origin itself is asked for the rest, too. */
const TRIES_THROUGH_MASTER = 3;

/**
 * Firefox: the add-on downloads the origin's own address, and a rule leads its requests to the master. So every
 * resumption finds a new way, and without the rule the rest comes from the origin: no byte is ever given up for another
 * way. The browser compares the versions itself (`If-Match`).
 *
 * The original has the name until it is ended, and Firefox names nothing anew: so it is ended first.
 */
export class LedWay implements Way {
  readonly standsBeside = false;
  readonly standstill = {
    ...standstillLooks,
    afterMs: STILL_MS,
    leaveGone: (job: Job, download: Download) => this.#leaveGone(job, download),
  };
  readonly #deps: LedWayDependencies;
  readonly #rules: JobRules;
  readonly #starts: LedStart;

  constructor(deps: LedWayDependencies) {
    this.#deps = deps;
    this.#rules = new JobRules(deps);
    this.#starts = new LedStart(deps, this.#rules);
  }

  async take(order: TakeOrder): Promise<Outcome> {
    const { downloads, jobs, now } = this.#deps;
    const leadRuleId = await this.#rules.nextId();
    const job = newJob(order, now(), { url: order.originUrl, leadRuleId });
    if (!(await this.#isLed(job))) return { why: 'no-room' };
    if (!(await endOriginal(downloads, order.original.id))) {
      await this.release(job);
      await jobs.remove(job.key);
      return { why: 'finished' };
    }
    return this.#starts.start(job);
  }

  async begin(order: LinkOrder): Promise<Outcome> {
    const { now } = this.#deps;
    const leadRuleId = await this.#rules.nextId();
    const job = newJob(orderOf(order), now(), { url: order.originUrl, leadRuleId });
    return (await this.#isLed(job)) ? this.#starts.start(job) : { why: 'no-room' };
  }

  /** Stores a new job and its rule; false when the browser has no room for them. */
  async #isLed(job: Job): Promise<boolean> {
    const { jobs } = this.#deps;
    if (!(await remembers(jobs, job))) return false;
    return this.#rules.lead(job).then(
      () => true,
      async () => {
        await jobs.remove(job.key);
        return false;
      },
    );
  }

  async goOn(job: Job, download: Download): Promise<GoOn> {
    const { downloads } = this.#deps;
    const isHanging = download.state === 'in_progress';
    const isOther = download.state === 'complete';
    const isWrong = await this.#isWrong(job, download);
    const found = isWrong
      ? await wayFromWrong(this.#deps, job)
      : await this.#findWay(isHanging || download.canResume ? job : { ...job, bytes: 0 });
    if (!found.way && isOther) return judgeOther(this.#deps, job, download);
    if (!found.way) return { result: 'not-yet', problem: found.problem };
    if (isOther) {
      if (job.restarts < MAX_RESTARTS) await removeOther(downloads, download.id);
      return this.#startOver(job, found.way);
    }
    const done = await doneMeanwhile(downloads, download);
    if (done) return done;
    // One that hangs keeps its connection until it is paused.
    if (isHanging) await hold(this.#deps, job, download.id);
    const now = (await downloads.get(download.id)) ?? download;
    if (now.state === 'complete') return { result: 'tried' };
    if (isWrong) return this.#startOverFromWrong(job, found.way);
    if (!now.canResume) return this.#startOver(job, found.way);
    return this.#resume(job, found.way, download.id);
  }

  /** Nothing on disk is given up, unless it is wrong: the rest comes another way. */
  async lead(job: Job, download: Download, to: Lead): Promise<GoOn> {
    const { downloads } = this.#deps;
    const isWrong = await this.#isWrong(job, download);
    const atByte = isWrong ? 0 : Math.max(job.bytes, download.bytesReceived);
    const way = await wantedWay(this.#deps, job, to, atByte, isWrong);
    if (!way || (await doneMeanwhile(downloads, download))) return { result: 'not-yet', problem: '' };
    if (download.state === 'in_progress') await hold(this.#deps, job, download.id);
    const now = await downloads.get(download.id);
    if (now?.state === 'complete') return { result: 'not-yet', problem: '' };
    if (isWrong) return this.#startOverFromWrong(job, way);
    return now?.canResume ? this.#resume(job, way, download.id) : this.#startOver(job, way);
  }

  /**
   * Whether the depot that a download came from has broken it off because it is not what the origin states.
   * Whoever else gave its end would make a wrong file whole, since of a part nobody checks that.
   */
  async #isWrong({ file, location, way }: Job, { bytesReceived, state }: Download): Promise<boolean> {
    const { probeFile, deadline } = this.#deps;
    const isNearEnd = bytesReceived > 0 && (file.totalBytes ?? 0) - bytesReceived <= LOST_WITH_END_BYTES;
    if (state !== 'interrupted' || !isNearEnd || way !== 'chain' || location === undefined) return false;
    // Of another version the depot may have given a wrong beginning: to somebody else behind the same
    // address, or before this one.
    return isKnownWrong(await probeFile(location, deadline(), bytesReceived, versionIn(file)));
  }

  /**
   * At the origin nobody says any more that it is wrong: that is no loop, and may come once more than other
   * restarts.
   */
  async #startOverFromWrong(job: Job, way: OtherWay): Promise<GoOn> {
    if (way.way !== 'direct') return this.#startOver(job, way);
    const restarts = Math.min(job.restarts, MAX_RESTARTS - 1);
    return this.#startOver({ ...job, restarts }, way);
  }

  async #resume(job: Job, way: OtherWay, downloadId: number): Promise<GoOn> {
    const { jobs } = this.#deps;
    await this.#rules.lead({ ...job, ...way });
    await jobs.change(job.key, way);
    await this.#letGo(job, downloadId);
    return { result: 'tried' };
  }

  /** Lets it go on, and notes which depot it comes from then. */
  async #letGo(job: Job, downloadId: number): Promise<void> {
    const { answers, downloads, jobs } = this.#deps;
    const note = (seen: SeenAnswer | undefined) => jobs.change(job.key, { servedBy: serverIn(seen) });
    void answers.nextOwnAnswer(job.url).then(note);
    letGo(downloads, downloadId);
  }

  /**
   * A way on which the next byte of the same file is there. The browser gives the bytes on disk up after two
   * resumptions in a row that were refused: so somebody else asks first.
   */
  async #findWay(job: Job): Promise<Found> {
    const tries = job.interruption?.tries ?? 0;
    const isDirect = job.choseDirect === true || job.isOriginsOnly === true;
    const places = isDirect ? [] : [() => this.#asPlanned(job)];
    if (isDirect || tries >= TRIES_THROUGH_MASTER)
      places.push(() => proved(this.#deps, job, DIRECT, job.bytes));
    // What looks well, and breaks again and again, gives way to the other one.
    if (tries % 2 === 1) places.reverse();
    let problem = '';
    for (const place of places) {
      const found = await place();
      if (found.way) return found;
      problem ||= found.problem;
    }
    return { problem };
  }

  /** As the master plans it now. */
  async #asPlanned(job: Job): Promise<Found> {
    const planned = await planAnew(this.#deps, job);
    return planned.way ? proved(this.#deps, job, planned.way, job.bytes) : planned;
  }

  /** Nothing is given up here: the rest comes over another chain, or from the origin, if that ends sooner. */
  async change(
    job: Job,
    download: Download,
    leftSeconds: number,
  ): Promise<Partial<Job> | 'nobody' | undefined> {
    const found = await unlessSilent(this.#deps, (deps) =>
      fasterWay(deps, job, download.bytesReceived, leftSeconds, job.chain),
    );
    return found && found !== 'nobody' ? this.#changeTo(found, job, download) : found;
  }

  /**
   * Nobody is at the entry depot's address, or a neighbour that has taken it over. While the depot itself is
   * there, what is behind it is in its hands.
   */
  async #leaveGone(job: Job, download: Download): Promise<Partial<Job> | undefined> {
    const { downloads, whoIsAt, deadline } = this.#deps;
    const { location, chain, servedBy = chain[0] ?? '' } = job;
    if (location === undefined) return undefined;
    const there = await whoIsAt(location, deadline());
    if (there === '' || there === servedBy) return undefined;
    const leftSeconds = Number.POSITIVE_INFINITY;
    const found = await fasterWay(this.#deps, job, download.bytesReceived, leftSeconds, [servedBy]);
    const now = await downloads.get(download.id);
    return found && now?.bytesReceived === download.bytesReceived
      ? this.#changeTo(found, job, download)
      : undefined;
  }

  async #changeTo(found: OtherWay, job: Job, download: Download): Promise<Partial<Job> | undefined> {
    const { downloads } = this.#deps;
    const running = await downloads.get(download.id);
    // What the user has done meanwhile holds.
    if (running?.state !== 'in_progress' || running.paused) return undefined;
    // Its connection ends with the pause; without one it could not be led elsewhere.
    await hold(this.#deps, job, download.id);
    const paused = await downloads.get(download.id);
    if (!paused || paused.state === 'complete') return undefined;
    if (!paused.canResume) {
      const over = await this.#startOver(job, found);
      return over.result === 'moved' ? over.patch : { state: 'lost' };
    }
    await this.#rules.lead({ ...job, ...found }).catch(() => undefined);
    await this.#letGo(job, download.id);
    return found;
  }

  async recovered(): Promise<void> {
    // Firefox has no budget of resumptions.
  }

  release(job: Job): Promise<void> {
    return this.#rules.release(job);
  }

  keepInStep(): Promise<void> {
    return this.#rules.keepInStep();
  }

  putBack(): Promise<void> {
    return this.#rules.putBack();
  }

  /** From now on its resumptions are led to the master, too: by itself it would ask the same depot. */
  async adopt(job: Job): Promise<void> {
    const { jobs } = this.#deps;
    const leadRuleId = await this.#rules.nextId();
    await jobs.change(job.key, { leadRuleId });
    await this.#rules.lead({ ...job, leadRuleId });
  }

  async recover(job: Job): Promise<void> {
    const { downloads, jobs, addonId } = this.#deps;
    const own = await findOwn(downloads, job, addonId);
    const { totalBytes } = job.file;
    if (own?.totalBytes !== undefined && totalBytes !== undefined && own.totalBytes !== totalBytes) {
      await this.#starts.backToOrigin(job, own.id, { why: 'different-file' });
      return;
    }
    if (own) {
      const kept = own.addonId === undefined ? FROM_BEFORE : {};
      await jobs.change(job.key, { downloadId: own.id, state: 'running', ...kept });
      return;
    }
    const original = await downloads.get(job.originalId);
    // After a restart Firefox has given its number to another one.
    if (original?.name === job.name && original.state !== 'interrupted') {
      await this.release(job);
      await jobs.remove(job.key);
    } else await this.#starts.backToOrigin(job, undefined, { why: 'depot-silent' });
  }

  /** Nothing is left on disk, or no byte had come. */
  async #startOver(job: Job, way: OtherWay): Promise<GoOn> {
    const { downloads } = this.#deps;
    if (job.restarts >= MAX_RESTARTS) return { result: 'lost' };
    if (job.downloadId !== undefined) await drop(downloads, job.downloadId);
    const anew = { ...job, ...way };
    await this.#rules.lead(anew);
    // By its length, what is whole and not the file is known: nobody has to look at the answer.
    const outlives = anew.file.totalBytes !== undefined;
    const downloadId = await downloads
      .start({ url: job.url, name: job.name, outlives })
      .catch(() => undefined);
    if (downloadId === undefined) return { result: 'lost' };
    return {
      result: 'moved',
      patch: {
        ...way,
        state: 'running',
        downloadId,
        bytes: 0,
        restarts: job.restarts + 1,
        interruption: undefined,
      },
    };
  }
}

/** A way past these depots, or the direct one, that has the next byte and ends sooner than in so many seconds. */
async function fasterWay(
  deps: OtherWayDependencies,
  job: Job,
  bytes: number,
  leftSeconds: number,
  avoid: readonly string[],
): Promise<OtherWay | undefined> {
  const { totalBytes } = job.file;
  const rest = totalBytes === undefined ? 1 : 1 - bytes / totalBytes;
  const planned = await planAnew(deps, job, avoid);
  // The direct way is looked at once, even where it is what the master plans.
  for (const way of new Set([planned.way ?? DIRECT, DIRECT])) {
    const isSooner = (way.predictedSeconds ?? job.directSeconds) * rest < leftSeconds;
    if (isSooner && (await proved(deps, job, way, bytes)).way) return way;
  }
  return undefined;
}
