import { type Download, FORBIDDEN, isUnwritable } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import { isChromium } from '../browser/target.ts';
import type { Continuation, Lead } from './continuation.ts';
import { FROM_BEFORE, type Interruption, type Job, type JobState } from './job.ts';
import type { JobStore } from './job-store.ts';
import { drop, letGo } from './own-download.ts';
import { isTooSlow, PACE_LOOK_MS, paceAt, secondsLeft } from './pace.ts';
import { awakeWait, nextTryAtMs } from './retry-times.ts';

export interface KeeperDependencies {
  readonly downloads: Downloads;
  readonly jobs: JobStore;
  readonly continuation: Continuation;
  readonly now: () => number;
  /** Asks for a call of `look` at this time, though the background may sleep until then. */
  readonly wakeAt: (timeMs: number) => void;
}

/**
 * While a job is to deliver its first bytes: no event tells of them, and a break before a look costs one of
 * Chromium's five.
 */
const FIRST_BYTES_LOOK_MS = 500;
/** While a job is to deliver more than another one, or its download is missing. */
const PROGRESS_LOOK_MS = 2_000;
/** While a job is to be seen standing still. */
const STILL_LOOK_MS = 1_000;
/** A connection that has brought nothing for so long is dead, or its depot cannot help itself. */
const STALL_MS = 60_000;
/**
 * A job stands by then, or the background that was to begin it is no more; and a browser that starts knows
 * its list.
 */
const STARTING_MS = 30_000;
/** Times that one job is led to another way because it is slow: more would be hopping. */
const MAX_CHANGES = 3;
/** A network that wants its user to log in answers in the place of everybody, and browsers take that for the file. */
const OTHER_FILE = 'other file';

/** What was resumed may take so long for its first byte. */
const FIRST_BYTE_MS = 30_000;

/**
 * Keeps jobs going until their files are whole or the user ends them. Nothing on disk is given up that can be
 * continued: an interrupted download waits, is tried again, and in the end is left to the user's click.
 */
export class JobKeeper {
  readonly #deps: KeeperDependencies;
  readonly #turns = new Map<string, Promise<void>>();
  /** Since when the browser knows no download of a job: one that has just started answers before it knows its list. */
  readonly #missed = new Map<string, number>();
  /** What the user has asked for and was not answered yet: asking again, he means the same. */
  readonly #leading = new Map<string, Promise<boolean>>();

  constructor(deps: KeeperDependencies) {
    this.#deps = deps;
  }

  /** A download is about to be taken: should the background end meanwhile, it wakes up, and takes the job up again. */
  expect(): void {
    this.#deps.wakeAt(this.#deps.now() + STARTING_MS);
  }

  /** Looks at a download that may have changed, and does what its present state asks for. */
  async follow(downloadId: number): Promise<void> {
    const job = await this.#deps.jobs.ofDownload(downloadId);
    if (job) await this.#inTurn(job.key, false);
  }

  /** The same for one that was erased from the browser's list: it is not waited for. */
  async erased(downloadId: number): Promise<void> {
    const job = await this.#deps.jobs.ofDownload(downloadId);
    if (!job) return;
    this.#missed.set(job.key, 0);
    await this.#inTurn(job.key, false);
  }

  /** Looks at all jobs. */
  look(): Promise<void> {
    return this.#all(false);
  }

  /** The same, and what waits is tried at once, since the network is back. */
  tryAll(): Promise<void> {
    return this.#all(true);
  }

  /** Tries an interrupted job at once, since the user wants it; gives the state that it is in then. */
  async goOn(key: string): Promise<JobState | undefined> {
    await this.#inTurn(key, true);
    return (await this.#deps.jobs.get(key))?.state;
  }

  /** Leads a job elsewhere, since the user wants it; false where there is no such way, and nothing has changed. */
  async lead(key: string, to: Lead): Promise<boolean> {
    const asked = `${to} ${key}`;
    const isLed = this.#leading.get(asked) ?? this.#leadInTurn(key, to);
    this.#leading.set(asked, isLed);
    return isLed.finally(() => this.#leading.delete(asked));
  }

  async #leadInTurn(key: string, to: Lead): Promise<boolean> {
    let isLed = false;
    await this.#oneByOne(key, async () => {
      isLed = await this.#lead(key, to);
    });
    return isLed;
  }

  async #lead(key: string, to: Lead): Promise<boolean> {
    const { jobs, downloads, continuation, now, wakeAt } = this.#deps;
    const job = await jobs.get(key);
    const download = job?.downloadId === undefined ? undefined : await downloads.get(job.downloadId);
    if (!job || !download || download.url !== job.url || download.state === 'complete') return false;
    const went = await continuation.lead(job, download, to);
    if (went.result !== 'tried' && went.result !== 'moved') return false;
    await jobs.change(key, {
      state: 'running',
      bytesAtMs: now(),
      interruption: undefined,
      pace: undefined,
      ...(went.result === 'moved' ? went.patch : {}),
      choseDirect: to === 'direct',
      lastChange: { atMs: now(), way: job.way, chain: job.chain, isAsked: true },
    });
    wakeAt(now() + FIRST_BYTES_LOOK_MS);
    return true;
  }

  async #all(isNow: boolean): Promise<void> {
    const jobs = await this.#deps.jobs.all();
    await Promise.all(jobs.map(({ key }) => this.#inTurn(key, isNow)));
  }

  #inTurn(key: string, isNow: boolean): Promise<void> {
    return this.#oneByOne(key, () => this.#lookAt(key, isNow));
  }

  /** One look at a job after the other: two at once would resume it twice. */
  #oneByOne(key: string, action: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.then(action).catch(() => undefined);
    this.#turns.set(key, turn);
    void turn.then(() => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    });
    return turn;
  }

  async #lookAt(key: string, isNow: boolean): Promise<void> {
    const stored = await this.#deps.jobs.get(key);
    if (!stored || stored.downloadId === undefined || ['starting', 'lost', 'done'].includes(stored.state))
      return;
    const asked = { ...stored, interruption: this.#awake(stored.interruption) };
    const download = await this.#downloadOf(asked, stored.downloadId);
    // The user, or its connection, may have let it go on.
    const spare = stored.spare && (await this.#deps.downloads.get(stored.spare.downloadId));
    if (!download) {
      const { now, wakeAt } = this.#deps;
      const sinceMs = this.#missed.get(key) ?? now();
      if (now() - sinceMs >= STARTING_MS) return this.#forget(asked, spare);
      this.#missed.set(key, sinceMs);
      return wakeAt(now() + PROGRESS_LOOK_MS);
    }
    this.#missed.delete(key);
    const learnt = learntOf(asked, download);
    if (learnt) await this.#deps.jobs.change(key, learnt);
    const job = { ...asked, ...learnt };
    if (download.state === 'complete') {
      if (isAsLong(download, job)) return this.#finish(job, download);
      return this.#afterBreak(job, { ...download, error: OTHER_FILE }, isNow);
    }
    if (spare && isBetter(spare, download, job) && (await this.#backToSpare(job, download))) return;
    if (download.paused && !job.isHeld) {
      if (!job.wasPaused || job.standstill)
        await this.#deps.jobs.change(key, { wasPaused: true, pace: undefined, standstill: undefined });
      return;
    }
    // Firefox says of all that is paused that the user has ended it; what has another reason broke meanwhile.
    if (download.paused && (download.error ?? 'USER_CANCELED') === 'USER_CANCELED')
      return this.#letGo(job, download);
    if (job.isHeld && !download.paused) await this.#deps.jobs.change(key, { isHeld: undefined });
    if (download.state === 'in_progress') return this.#whileRunning(job, download, spare);
    if (download.error === 'USER_CANCELED') return this.#forget(job, spare);
    if (isUnwritable(download)) return this.#afterUnwritable(job, download);
    await this.#afterBreak(job, download, isNow);
  }

  /**
   * The room may have gone to what the add-on itself began beside another one: that one goes on then. What is
   * forbidden is lost.
   */
  async #afterUnwritable(job: Job, download: Download): Promise<void> {
    if (await this.#backToSpare(job, download)) return;
    const interruption = this.#newInterruption(job, download);
    const isLost = FORBIDDEN.test(interruption.problem);
    if (isLost) await this.#deps.continuation.release(job);
    await this.#deps.jobs.change(job.key, { state: isLost ? 'lost' : 'stuck', interruption });
  }

  /** Ends a job's download for what stands beside that; false where nothing does. */
  async #backToSpare(job: Job, download: Download): Promise<boolean> {
    const { jobs, continuation, now, wakeAt } = this.#deps;
    const went = job.spare && (await continuation.goOn(job, download));
    if (went?.result !== 'moved') return false;
    await jobs.change(job.key, { bytesAtMs: now(), ...went.patch });
    wakeAt(now() + FIRST_BYTES_LOOK_MS);
    return true;
  }

  /**
   * The download of a job; where the browser has numbered them anew, the one of its address that goes to the
   * same file.
   */
  async #downloadOf({ key, url, path }: Job, downloadId: number): Promise<Download | undefined> {
    const { downloads, jobs } = this.#deps;
    const known = await downloads.get(downloadId);
    if (known?.url === url) return known;
    if (isChromium || path === undefined) return undefined;
    const taken = (await jobs.all()).filter((job) => job.key !== key).map((job) => job.downloadId);
    const found = await downloads.find(url);
    return found.find((one) => pathOf(one) === path && !taken.includes(one.id));
  }

  /** An earlier life of the background ended while it held this download, or its connection does not stand yet. */
  async #letGo(job: Job, download: Download): Promise<void> {
    const { downloads, jobs, now, wakeAt } = this.#deps;
    letGo(downloads, download.id);
    if (isOverdue(job, now())) return this.#tryOn(job, job.interruption, download);
    await jobs.change(job.key, { bytesAtMs: now() });
    wakeAt(now() + FIRST_BYTES_LOOK_MS);
  }

  #awake(interruption: Interruption | undefined): Interruption | undefined {
    return interruption && { ...interruption, ...awakeWait(interruption, this.#deps.now()) };
  }

  async #whileRunning(job: Job, download: Download, spare: Download | undefined): Promise<void> {
    const { jobs, downloads, continuation, now, wakeAt } = this.#deps;
    const bytes = Math.max(job.bytes, download.bytesReceived);
    const bytesAtMs = bytes > job.bytes ? now() : job.bytesAtMs;
    const { interruption } = job;
    const hasGoneOn = interruption !== undefined && download.bytesReceived > interruption.bytes;
    // Chromium asks about some kinds when their last byte has come, and calls them running until the user answers.
    const isAllThere = download.bytesReceived === (job.file.totalBytes ?? download.totalBytes);
    if (interruption && !hasGoneOn) {
      if (isOverdue(job, now())) return this.#tryOn(job, interruption, download);
    } else if (!isAllThere && now() - bytesAtMs >= STALL_MS)
      return this.#interrupt(job, download, 'no bytes');
    if (hasGoneOn && !isAllThere) await continuation.recovered(job, download);
    const isAhead = job.spare !== undefined && bytes > (spare?.bytesReceived ?? 0);
    if (spare && isAhead) await drop(downloads, spare.id);
    const look = { atMs: now(), bytes: download.bytesReceived };
    const isWatched = !isAllThere && this.#isWatched(job);
    const still = isChromium ? undefined : continuation.standstill;
    const standstill =
      still && isWatched ? still.standstillAt(job.standstill, look, still.afterMs) : undefined;
    const pace = isWatched ? paceAt(standstill?.isLate ? undefined : job.pace, look, job) : undefined;
    // A clock that was set back tells no time either.
    const sinceMs = look.atMs - (job.pace?.atMs ?? look.atMs);
    const hasSlept = sinceMs < 0 || sinceMs >= STALL_MS * 2;
    const isStill = !isChromium && standstill?.isKnown && !job.standstill?.isKnown;
    const changed = await jobs.change(job.key, {
      state: 'running',
      bytes,
      bytesAtMs,
      pace,
      standstill,
      ...(hasSlept ? { wasPaused: true } : {}),
      ...(download.name === '' ? {} : { path: pathOf(download) }),
      ...(hasGoneOn ? { interruption: undefined } : {}),
      ...(isAhead ? { spare: undefined } : {}),
    });
    if (changed && isStill) {
      const patch = await still?.leaveGone(changed, download);
      if (patch) await this.#noteChange(changed, download, patch);
    } else if (changed && pace && isTooSlow(pace)) await this.#leaveSlowWay(changed, download);
    const watchMs = standstill ? STILL_LOOK_MS : PACE_LOOK_MS;
    const lookMs = changed?.spare ? PROGRESS_LOOK_MS : pace ? watchMs : STALL_MS;
    wakeAt(now() + (changed?.interruption ? FIRST_BYTES_LOOK_MS : lookMs));
  }

  /** The direct way is the last one: there is nothing to compare it with. */
  #isWatched({ way, interruption, changes = 0, promisedBps }: Job): boolean {
    return way === 'chain' && !interruption && changes < MAX_CHANGES && promisedBps !== undefined;
  }

  async #leaveSlowWay(job: Job, download: Download): Promise<void> {
    const leftSeconds = job.pace ? secondsLeft(job.pace, job.file.totalBytes) : Number.POSITIVE_INFINITY;
    const went = await this.#deps.continuation.change(job, download, leftSeconds);
    // That says nothing of this way, and no other one could have been had.
    if (went === 'nobody') await this.#deps.jobs.change(job.key, { pace: undefined, standstill: undefined });
    else await this.#noteChange(job, download, went);
  }

  /** What was in vain counts, too: the master is not asked every ten seconds. */
  async #noteChange(job: Job, download: Download, patch: Partial<Job> | undefined): Promise<void> {
    const { jobs, continuation, now } = this.#deps;
    const { way, chain, servedBy, jobId, pace, changes = 0 } = job;
    const bytes = patch?.bytes ?? download.bytesReceived;
    if (patch?.state === 'lost') await continuation.release(job);
    const lastChange = { atMs: now(), way, chain, servedBy, jobId, rateBps: pace?.rateBps, bytes };
    await jobs.change(job.key, {
      changes: changes + 1,
      pace: undefined,
      standstill: undefined,
      ...(patch ? { bytesAtMs: now(), lastChange, ...patch } : {}),
    });
  }

  async #afterBreak(job: Job, download: Download, isNow: boolean): Promise<void> {
    const { interruption } = job;
    const isNew = interruption === undefined || download.bytesReceived > interruption.bytes;
    if (isNew) return this.#interrupt(job, download);
    if (job.state === 'click' && !isNow) return;
    if (this.#deps.now() < interruption.nextTryAtMs && !isNow)
      return this.#deps.wakeAt(interruption.nextTryAtMs);
    await this.#tryOn(job, interruption, download);
  }

  async #interrupt(job: Job, download: Download, problem = download.error): Promise<void> {
    const { jobs, now, wakeAt } = this.#deps;
    const interruption = this.#newInterruption(job, download, problem);
    await jobs.change(job.key, {
      state: 'waiting',
      bytes: interruption.bytes,
      bytesAtMs: now(),
      interruption,
      breaks: (job.breaks ?? 0) + 1,
    });
    wakeAt(interruption.nextTryAtMs);
  }

  async #tryOn(job: Job, interruption: Interruption, download: Download): Promise<void> {
    const { jobs, now, continuation, wakeAt } = this.#deps;
    const went = await continuation.goOn(job, download);
    const tries = interruption.tries + 1;
    const nextMs = nextTryAtMs(interruption.sinceMs, tries, now());
    const needsClick = went.result === 'click' || nextMs === undefined;
    if (went.result === 'lost') await continuation.release(job);
    await jobs.change(job.key, {
      state: went.result === 'lost' ? 'lost' : needsClick ? 'click' : 'waiting',
      interruption: {
        ...interruption,
        tries,
        nextTryAtMs: nextMs ?? interruption.nextTryAtMs,
        ...(went.result === 'not-yet' && went.problem !== '' ? { problem: went.problem } : {}),
      },
      ...(went.result === 'moved' ? { bytesAtMs: now(), ...went.patch } : {}),
    });
    if (went.result === 'tried' || went.result === 'moved') wakeAt(now() + FIRST_BYTES_LOOK_MS);
    else if (nextMs !== undefined) wakeAt(nextMs);
  }

  #newInterruption(job: Job, download: Download, problem = download.error ?? ''): Interruption {
    const sinceMs = this.#deps.now();
    return {
      sinceMs,
      bytes: Math.max(job.bytes, download.bytesReceived),
      tries: 0,
      nextTryAtMs: nextTryAtMs(sinceMs, 0, sinceMs) ?? sinceMs,
      problem,
    };
  }

  async #finish(job: Job, download: Download): Promise<void> {
    const { jobs, downloads, continuation, now } = this.#deps;
    if (job.spare) await drop(downloads, job.spare.downloadId);
    await continuation.release(job);
    await jobs.change(job.key, {
      state: 'done',
      doneAtMs: now(),
      bytes: download.totalBytes ?? job.file.totalBytes ?? download.bytesReceived,
      interruption: undefined,
      spare: undefined,
    });
  }

  /** The user has ended it, in the browser's own list or by a dialog. What he lets go on beside it is his. */
  async #forget(job: Job, spare: Download | undefined): Promise<void> {
    const { jobs, downloads, continuation } = this.#deps;
    if (spare?.paused || spare?.state === 'interrupted') await drop(downloads, spare.id);
    await continuation.release(job);
    await jobs.remove(job.key);
  }
}

/**
 * What a job learns from its download: a link whose name nobody offers is named by the browser, after a while. What
 * somebody else answers in the file's place gives it no name.
 */
function learntOf(job: Job, download: Download): Partial<Job> | undefined {
  const kept = keptOf(job, download);
  const isNew = job.name === '' && download.name !== '';
  const isFile = download.totalBytes === (job.file.totalBytes ?? download.totalBytes);
  return isNew && isFile ? { ...kept, name: download.name } : kept;
}

/**
 * What changes in a job whose download Firefox has kept since it ran before, be it by chance under the same
 * number: it does not say any more whose that is. Of pages' own, which the job has taken over where they were
 * led to a depot, it never does, and they go on there. Chromium's numbers outlive it.
 */
function keptOf(job: Job, { id, addonId }: Download): Partial<Job> | undefined {
  if (isChromium) return undefined;
  const isAtOrigin = job.url === job.originUrl;
  const isSame = id === job.downloadId && (addonId !== undefined || job.isKept || !isAtOrigin);
  if (isSame) return undefined;
  return { downloadId: id, ...(isAtOrigin ? FROM_BEFORE : { pace: undefined, wasPaused: true }) };
}

/** Whether what the browser calls whole is as long as the file: what came encoded is no job. */
function isAsLong({ totalBytes }: Download, { file }: Job): boolean {
  return totalBytes === undefined || totalBytes === (file.totalBytes ?? totalBytes);
}

/** Whether what stands beside a job's download is the whole file, or goes on and has more of it. */
function isBetter(spare: Download, { bytesReceived }: Download, job: Job): boolean {
  if (spare.state === 'complete') return isAsLong(spare, job);
  const isAhead = spare.bytesReceived > Math.max(bytesReceived, job.spare?.bytes ?? 0);
  return isAhead && spare.state === 'in_progress' && !spare.paused;
}

/** Whether the first byte after a break should have come. */
function isOverdue(job: Job, nowMs: number): job is Job & { readonly interruption: Interruption } {
  return job.interruption !== undefined && nowMs >= job.interruption.nextTryAtMs + FIRST_BYTE_MS;
}

function pathOf({ folder, name }: Pick<Download, 'folder' | 'name'>): string {
  return `${folder}/${name}`;
}
