import { HEADERS } from '@longhaul/shared';
import type { askMaster } from '../ask/ask-master.ts';
import { AGAIN_AFTER_MS, MOST_TRIES, type Probe, type probeFile, type whoIsAt } from '../ask/probe-file.ts';
import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { Route, Routes } from '../browser/routes.ts';
import type { Job } from '../jobs/job.ts';
import { drop, type GoOn, hold, type Lead, letGo } from '../jobs/job-keeper.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { isSameFile } from '../judge/file-facts.ts';
import { mayBeTold } from '../judge/rules.ts';
import type { Outcome } from '../judge/why-left.ts';
import { whyUnfit } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';
import { directUrl } from '../url-fragment.ts';
import type { SeenAnswer, SeenAnswers } from '../watch/seen-answers.ts';
import { directStart } from './direct-start.ts';
import {
  endOriginal,
  findOwn,
  headersOf,
  judgeOther,
  judgeOwnAnswer,
  type LinkOrder,
  MAX_RESTARTS,
  newJob,
  orderOf,
  problemOf,
  remembers,
  removeOther,
  type TakeOrder,
  type Way,
  wayOf,
} from './way.ts';

export interface LedWayDependencies {
  readonly addonId: string;
  readonly downloads: Downloads;
  readonly jobs: JobStore;
  readonly routes: Routes;
  readonly answers: Pick<SeenAnswers, 'nextOwnAnswer'>;
  readonly settings: () => Promise<Settings>;
  readonly askMaster: typeof askMaster;
  readonly probeFile: typeof probeFile;
  readonly whoIsAt: typeof whoIsAt;
  readonly deadline: () => AbortSignal;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** What became of a download that was started to be led. */
interface LedTry {
  /** `undefined` where the browser started none. */
  readonly downloadId: number | undefined;
  readonly seen: SeenAnswer | undefined;
  readonly isBroken: boolean;
}

/** Where the rest of a download comes from. */
type OpenWay = Pick<Job, 'way' | 'chain'> & Partial<Job>;

/** From the origin itself. */
const DIRECT = { way: 'direct', chain: [] } as const satisfies OpenWay;

/** Until then the depot's answer to the download itself must have come. */
const FIRST_ANSWER_MS = 8_000;
/** What is shorter is nothing to anybody, and a depot that is gone repairs nothing. */
const STILL_MS = 2_500;
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
    afterMs: STILL_MS,
    leaveGone: (job: Job, download: Download) => this.#leaveGone(job, download),
  };
  readonly #deps: LedWayDependencies;
  #lastRouteId = 0;

  constructor(deps: LedWayDependencies) {
    this.#deps = deps;
  }

  async take(order: TakeOrder): Promise<Outcome> {
    const { downloads, jobs, now } = this.#deps;
    const routeId = await this.#nextRouteId();
    const job = newJob(order, now(), { url: order.originUrl, routeId });
    if (!(await this.#isLed(job))) return { why: 'no-room' };
    if (!(await endOriginal(downloads, order.original.id))) {
      await this.release(job);
      await jobs.remove(job.key);
      return { why: 'finished' };
    }
    return this.#startLed(job);
  }

  async begin(order: LinkOrder): Promise<Outcome> {
    const { now } = this.#deps;
    const routeId = await this.#nextRouteId();
    const job = newJob(orderOf(order), now(), { url: order.originUrl, routeId });
    return (await this.#isLed(job)) ? this.#startLed(job) : { why: 'no-room' };
  }

  /** Stores a new job and its rule; false when the browser has no room for them. */
  async #isLed(job: Job): Promise<boolean> {
    const { jobs, routes } = this.#deps;
    if (!(await remembers(jobs, job))) return false;
    return routes.lead(routeOf(job)).then(
      () => true,
      async () => {
        await jobs.remove(job.key);
        return false;
      },
    );
  }

  /**
   * Starts the download that the rule leads to the master, and judges what the depot answers. Where its connection breaks before that it is
   * started again: Firefox may have gone to the one depot of a name that is gone, as a probe may.
   */
  async #startLed(job: Job): Promise<Outcome> {
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
      await this.release(job);
      await jobs.remove(job.key);
      return { why: 'finished' };
    }
    if (outcome !== 'taken') return this.#backToOrigin(job, tried.downloadId, outcome);
    // A depot that does not get it leads to the origin itself, and so does a master that plans anew: that has given it now.
    const servedBy = serverIn(tried.seen);
    if (servedBy === undefined) await lead(this.#deps.routes, { ...job, ...DIRECT });
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
    const { jobs, answers, pause } = this.#deps;
    const answer = answers.nextOwnAnswer(job.url);
    const downloadId = await this.#start(job, true).catch(() => undefined);
    if (downloadId === undefined) return { downloadId, seen: undefined, isBroken: false };
    await jobs.change(job.key, { downloadId });
    const seen = await Promise.race([answer, pause(FIRST_ANSWER_MS).then(() => 'late' as const)]);
    return seen === 'late'
      ? { downloadId, seen: undefined, isBroken: false }
      : { downloadId, seen, isBroken: seen === undefined };
  }

  async goOn(job: Job, download: Download): Promise<GoOn> {
    const { downloads, probeFile, deadline } = this.#deps;
    const isHanging = download.state === 'in_progress';
    const isOther = download.state === 'complete';
    const found = await this.#findWay(isHanging || download.canResume ? job : { ...job, bytes: 0 });
    if (!found.way && isOther) return judgeOther(await probeFile(job.originUrl, deadline()), download);
    if (!found.way) return { result: 'not-yet', problem: found.problem };
    if (isOther) {
      if (job.restarts < MAX_RESTARTS) await removeOther(downloads, download.id);
      return this.#startOver(job, found.way);
    }
    // One that hangs keeps its connection until it is paused.
    if (isHanging) await hold(this.#deps, job, download.id);
    const now = (await downloads.get(download.id)) ?? download;
    if (now.state === 'complete') return { result: 'tried' };
    if (!now.canResume) return this.#startOver(job, found.way);
    return this.#resume(job, found.way, download.id);
  }

  /** Nothing on disk is given up: the rest comes another way. */
  async lead(job: Job, download: Download, to: Lead): Promise<GoOn> {
    const { downloads } = this.#deps;
    const at = { ...job, bytes: Math.max(job.bytes, download.bytesReceived) };
    const way = to === 'direct' ? await this.#provedWay(at, this.#toOrigin(at)) : await this.#elsewhere(at);
    if (!way) return { result: 'not-yet', problem: '' };
    if (download.state === 'in_progress') await hold(this.#deps, job, download.id);
    const now = await downloads.get(download.id);
    if (now?.state === 'complete') return { result: 'not-yet', problem: '' };
    return now?.canResume ? this.#resume(job, way, download.id) : this.#startOver(job, way);
  }

  /** A way over depots that are not in the job's chain, or at least not at its beginning. */
  async #elsewhere(job: Job): Promise<OpenWay | undefined> {
    for (const avoid of [job.chain, job.chain.slice(0, 1)]) {
      const way = await this.#provedWay(job, this.#throughMaster(job, avoid));
      if (way?.way === 'chain') return way;
    }
    return undefined;
  }

  async #provedWay(
    { file }: Job,
    place: Promise<OpenWay & { readonly probe: Probe }>,
  ): Promise<OpenWay | undefined> {
    const { probe, ...way } = await place;
    return probe.result === 'file' && isSameFile(file, probe.file) ? way : undefined;
  }

  async #resume(job: Job, way: OpenWay, downloadId: number): Promise<GoOn> {
    const { jobs, routes } = this.#deps;
    await lead(routes, { ...job, ...way });
    await jobs.change(job.key, way);
    await this.#letGo(job, downloadId);
    return { result: 'tried' };
  }

  /** Lets it go on, and notes which depot it comes from then. */
  async #letGo(job: Job, downloadId: number): Promise<void> {
    const { answers, jobs } = this.#deps;
    const note = (seen: SeenAnswer | undefined) => jobs.change(job.key, { servedBy: serverIn(seen) });
    void answers.nextOwnAnswer(job.url).then(note);
    await letGo(this.#deps, job, downloadId);
  }

  /**
   * A way on which the next byte of the same file is there. The browser gives the bytes on disk up after two
   * resumptions in a row that were refused: so somebody else asks first.
   */
  async #findWay(job: Job): Promise<{ readonly way?: OpenWay; readonly problem: string }> {
    const tries = job.interruption?.tries ?? 0;
    const places = job.choseDirect ? [] : [() => this.#throughMaster(job)];
    if (job.choseDirect || tries >= TRIES_THROUGH_MASTER) places.push(() => this.#toOrigin(job));
    // What looks well, and breaks again and again, gives way to the other one.
    if (tries % 2 === 1) places.reverse();
    let problem = '';
    for (const place of places) {
      const { probe, ...way } = await place();
      if (probe.result === 'file' && isSameFile(job.file, probe.file)) return { way, problem: '' };
      problem ||= problemOf(probe);
    }
    return { problem };
  }

  async #throughMaster(
    job: Job,
    avoid: readonly string[] = [],
  ): Promise<OpenWay & { readonly probe: Probe }> {
    const { settings, askMaster, probeFile, deadline } = this.#deps;
    const set = await settings();
    if (!mayBeTold(job, set)) return this.#toOrigin(job);
    const { totalBytes } = job.file;
    const request = {
      url: job.originUrl,
      ...(totalBytes === undefined ? {} : { sizeBytes: totalBytes }),
      ...(avoid.length === 0 ? {} : { avoid: [...avoid] }),
    };
    const reply = await askMaster(set.master, request, deadline());
    const { way, chain } = job;
    if (reply.result === 'refused') return { way, chain, probe: reply };
    if (reply.result !== 'plan') return { way, chain, probe: { result: 'silent' } };
    const unfit = whyUnfit(reply.plan, job.originUrl, set);
    if (unfit === 'direct-is-best') return this.#toOrigin(job);
    if (unfit !== undefined) return { way, chain, probe: { result: 'silent' } };
    const probe = await probeFile(reply.plan.location, deadline(), job.bytes);
    return { ...wayOf(reply.plan), probe };
  }

  async #toOrigin({ originUrl, bytes }: Job): Promise<OpenWay & { readonly probe: Probe }> {
    const probe = await this.#deps.probeFile(originUrl, this.#deps.deadline(), bytes);
    return { ...DIRECT, probe };
  }

  /** Nothing is given up here: the rest comes over another chain, or from the origin, if that ends sooner. */
  async change(job: Job, download: Download, leftSeconds: number): Promise<Partial<Job> | undefined> {
    const found = await this.#fasterWay(job, download.bytesReceived, leftSeconds, job.chain);
    return found && this.#changeTo(found, job, download);
  }

  /**
   * Nobody is at the entry depot's address, or a neighbour that has taken it over. While the depot itself is there, what is behind it
   * is in its hands.
   */
  async #leaveGone(job: Job, download: Download): Promise<Partial<Job> | undefined> {
    const { downloads, whoIsAt, deadline } = this.#deps;
    const { location, chain, servedBy = chain[0] ?? '' } = job;
    if (location === undefined) return undefined;
    const there = await whoIsAt(location, deadline());
    if (there === '' || there === servedBy) return undefined;
    const found = await this.#fasterWay(job, download.bytesReceived, Number.POSITIVE_INFINITY, [servedBy]);
    const now = await downloads.get(download.id);
    return found && now?.bytesReceived === download.bytesReceived
      ? this.#changeTo(found, job, download)
      : undefined;
  }

  async #changeTo(
    found: OpenWay & Partial<Job>,
    job: Job,
    download: Download,
  ): Promise<Partial<Job> | undefined> {
    const { downloads, routes } = this.#deps;
    const running = await downloads.get(download.id);
    // What the user has done meanwhile holds.
    if (running?.state !== 'in_progress' || running.paused) return undefined;
    // Its connection ends with the pause; without one it could not be led elsewhere.
    await hold(this.#deps, job, download.id);
    const paused = await downloads.get(download.id);
    if (!paused || paused.state === 'complete') return undefined;
    if (!paused.canResume) {
      const over = await this.#startOver({ ...job, ...found }, { way: found.way, chain: found.chain });
      return over.result === 'moved' ? { ...found, ...over.patch } : { state: 'lost' };
    }
    await lead(routes, { ...job, ...found }).catch(() => undefined);
    await this.#letGo(job, download.id);
    return found;
  }

  async #fasterWay(
    job: Job,
    bytes: number,
    leftSeconds: number,
    avoid: readonly string[],
  ): Promise<(OpenWay & Partial<Job>) | undefined> {
    const { settings, askMaster, probeFile, deadline } = this.#deps;
    const set = await settings();
    const { totalBytes } = job.file;
    const rest = totalBytes === undefined ? 1 : 1 - bytes / totalBytes;
    const isSooner = (wholeSeconds: number) => wholeSeconds * rest < leftSeconds;
    const request = {
      url: job.originUrl,
      avoid: [...avoid],
      ...(totalBytes === undefined ? {} : { sizeBytes: totalBytes }),
    };
    const isThere = async (place: string) => {
      const probe = await probeFile(place, deadline(), bytes);
      return probe.result === 'file' && isSameFile(job.file, probe.file);
    };
    const reply = mayBeTold(job, set) ? await askMaster(set.master, request, deadline()) : undefined;
    if (reply?.result === 'plan' && whyUnfit(reply.plan, job.originUrl, set) === undefined) {
      const { plan } = reply;
      if (isSooner(plan.prediction.seconds) && (await isThere(plan.location))) return wayOf(plan);
    }
    if (!isSooner(job.directSeconds) || !(await isThere(job.originUrl))) return undefined;
    return DIRECT;
  }

  async recovered(): Promise<void> {
    // Firefox has no budget of resumptions.
  }

  release(job: Job): Promise<void> {
    return this.#deps.routes.release(job.routeId);
  }

  /** From now on its resumptions are led to the master, too: by itself it would ask the same depot. */
  async adopt(job: Job): Promise<void> {
    const { jobs, routes } = this.#deps;
    const routeId = await this.#nextRouteId();
    await jobs.change(job.key, { routeId });
    await routes.lead(routeOf({ ...job, routeId }));
  }

  async recover(job: Job): Promise<void> {
    const { downloads, jobs, addonId } = this.#deps;
    const own = await findOwn(downloads, job, addonId);
    const { totalBytes } = job.file;
    if (own?.totalBytes !== undefined && totalBytes !== undefined && own.totalBytes !== totalBytes) {
      await this.#backToOrigin(job, own.id, { why: 'different-file' });
      return;
    }
    if (own) {
      await jobs.change(job.key, { downloadId: own.id, state: 'running' });
      return;
    }
    const original = await downloads.get(job.originalId);
    // After a restart Firefox has given its number to another one.
    if (original?.name === job.name && original.state !== 'interrupted') {
      await this.release(job);
      await jobs.remove(job.key);
    } else await this.#backToOrigin(job, undefined, { why: 'depot-silent' });
  }

  /** Of two jobs that begin at once neither is stored yet. */
  async #nextRouteId(): Promise<number> {
    const stored = await this.#deps.jobs.all();
    this.#lastRouteId = 1 + Math.max(this.#lastRouteId, ...stored.map(({ routeId }) => routeId));
    return this.#lastRouteId;
  }

  #start({ url, name }: Job, outlives = false): Promise<number> {
    return this.#deps.downloads.start({ url, name, ...(outlives ? { outlives } : {}) });
  }

  /** The depot did not give the file: it is downloaded as if there were no add-on. */
  async #backToOrigin(job: Job, downloadId: number | undefined, outcome: Outcome): Promise<Outcome> {
    const { downloads, jobs } = this.#deps;
    await this.release(job);
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

  /** Nothing is left on disk, or no byte had come. */
  async #startOver(job: Job, way: OpenWay): Promise<GoOn> {
    const { downloads, routes } = this.#deps;
    if (job.restarts >= MAX_RESTARTS) return { result: 'lost' };
    if (job.downloadId !== undefined) await drop(downloads, job.downloadId);
    await lead(routes, { ...job, ...way });
    const downloadId = await this.#start(job).catch(() => undefined);
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

function routeOf(job: Job): Route {
  return { id: job.routeId, from: job.url, to: job.masterUrl, headers: headersOf(job) };
}

/** Leads the requests of a job to the master, or to the origin: there, too, if its own address is not the origin's. */
function lead(routes: Routes, job: Job): Promise<void> {
  if (job.way === 'chain') return routes.lead(routeOf(job));
  if (job.url === job.originUrl) return routes.release(job.routeId);
  return routes.lead({ ...routeOf(job), to: directUrl(job.originUrl) });
}

/** The depot that an answer is from, as it says. */
function serverIn(seen: SeenAnswer | undefined): string | undefined {
  return seen?.headers.get(HEADERS.depot) ?? undefined;
}
