import type { PlanAnswer } from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { Continuation } from '../jobs/continuation.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { type FileFacts, factsOf, isSameFile, isStrongTag } from '../judge/file-facts.ts';
import { type Outcome, sayCode } from '../judge/why-left.ts';
import type { SeenAnswer } from '../watch/seen-answers.ts';

/** A download that is to go through the overlay. */
export interface TakeOrder {
  /** As it is with the browser now. */
  readonly original: Download;
  readonly originUrl: string;
  readonly page: string;
  /** What the browser saw of the file. */
  readonly file: FileFacts;
  readonly inOnePiece: boolean;
  readonly plan: PlanAnswer;
  /** The master that the user has agreed to tell how it goes. */
  readonly reportsTo?: string | undefined;
}

/** A link that the user wants through the overlay: no download of the browser's own stands beside it. */
export interface LinkOrder extends Omit<TakeOrder, 'original' | 'inOnePiece'> {
  /** What the file is to be called; empty for the browser's choice. */
  readonly name: string;
}

/** How a browser lets an add-on take a download through the overlay, and keep it going. */
export interface Way extends Continuation {
  /** Whether the original stands until its successor has delivered, so that a trial before costs nothing but time. */
  readonly standsBeside: boolean;
  /** Puts another download in the original's place. */
  take(order: TakeOrder): Promise<Outcome>;
  /** Starts a download by a plan. */
  begin(order: LinkOrder): Promise<Outcome>;
  /** Looks after a download that the browser itself was led to a depot with. */
  adopt(job: Job): Promise<void>;
  /** Takes up a job that an earlier life of the background left while it put it in the original's place. */
  recover(job: Job): Promise<void>;
  /** The settings have changed; left out where nothing leads what is asked for again. */
  keepInStep?(): Promise<void>;
  /** Leads again what ran before the background started anew; left out where nothing is led by rules. */
  putBack?(): Promise<void>;
}

/** Times that one job is started again from the first byte; more would be a loop. */
export const MAX_RESTARTS = 3;

/**
 * An entity tag that no file has: who asks for everything but this version gets the whole file, and an entry depot
 * passes such a request on as it is, in one piece, over one connection (docs/protocol.md).
 */
const IN_ONE_PIECE = { 'If-None-Match': '"longhaul-in-one-piece"' } as const;

/**
 * What a download's own requests say. A file that must be asked for once only is also asked for by its
 * version, since nobody has compared it before: the depot holds the origin to it.
 */
export function headersOf({
  inOnePiece,
  file: { etag },
}: Pick<Job, 'inOnePiece' | 'file'>): Readonly<Record<string, string>> {
  if (!inOnePiece) return {};
  return isStrongTag(etag) ? { ...IN_ONE_PIECE, 'If-Match': etag } : IN_ONE_PIECE;
}

/** The browser's id of no download. */
const NO_DOWNLOAD = -1;

/** An order for a link, in the form of those that take a download's place. */
export function orderOf(link: LinkOrder): JobOrder {
  return { ...link, inOnePiece: false, original: { id: NO_DOWNLOAD, name: link.name } };
}

type JobOrder = Omit<TakeOrder, 'original'> & { readonly original: Pick<Download, 'id' | 'name'> };

/** The job of an order, before anything is done. */
export function newJob(order: JobOrder, nowMs: number, own: Pick<Job, 'url'> & Partial<Job>): Job {
  const { original, originUrl, page, file, inOnePiece, plan, reportsTo } = order;
  // Planned for a size that nobody knew yet: of a smaller file its times would promise, and boast, too much.
  const share = plan.sizeSource === 'assumed' && file.totalBytes ? file.totalBytes / plan.sizeBytes : 1;
  return {
    key: crypto.randomUUID(),
    state: 'starting',
    ...wayOf(plan),
    predictedSeconds: plan.prediction.seconds * share,
    startedAtMs: nowMs,
    originalId: original.id,
    downloadId: undefined,
    originUrl,
    page,
    name: original.name,
    file,
    inOnePiece,
    reportsTo,
    directSeconds: plan.direct.seconds * share,
    directSource: plan.direct.source,
    bytes: 0,
    bytesAtMs: nowMs,
    interruption: undefined,
    spare: undefined,
    restarts: 0,
    ...own,
  };
}

/** What a job takes over from a plan, when its rest is to come that way. */
export interface ChainWay
  extends Required<
    Pick<
      Job,
      'jobId' | 'chain' | 'masterUrl' | 'predictedSeconds' | 'promisedBps' | 'directBps' | 'legs' | 'location'
    >
  > {
  readonly way: 'chain';
}

/** The way of a plan that has a chain. */
export function wayOf(plan: PlanAnswer): ChainWay {
  const { jobId, chain, masterUrl, location, prediction, direct } = plan;
  return {
    way: 'chain',
    jobId,
    chain,
    masterUrl,
    predictedSeconds: prediction.seconds,
    promisedBps: prediction.goodputBps,
    directBps: direct.goodputBps,
    legs: prediction.legs,
    location,
  };
}

/** Stores a new job, before anything is done; false when the browser has no room for it. */
export async function remembers(jobs: JobStore, job: Job): Promise<boolean> {
  return jobs.add(job).then(
    () => true,
    () => false,
  );
}

/** Whether the answer to the download itself is the file; otherwise why it is none. */
export function judgeOwnAnswer(seen: SeenAnswer | undefined, file: FileFacts): Outcome {
  if (!seen) return { why: 'depot-silent' };
  if (seen.status !== 200) {
    return { why: 'depot-refused', detail: sayCode(seen.headers.get('longhaul-error') ?? `${seen.status}`) };
  }
  return isSameFile(file, factsOf(seen.status, seen.headers)) ? 'taken' : { why: 'different-file' };
}

/** Removes what is whole and not the file, so that nobody takes it for that. */
export async function removeOther(downloads: Downloads, id: number): Promise<void> {
  await downloads.removeFile(id).catch(() => undefined);
  await downloads.erase(id).catch(() => undefined);
}

/**
 * Ends the original.
 * @returns false when it was whole before: then it stays.
 */
export async function endOriginal(downloads: Downloads, id: number): Promise<boolean> {
  await downloads.cancel(id).catch(() => undefined);
  const ended = await downloads.get(id);
  if (ended && ended.state !== 'interrupted') return false;
  await downloads.erase(id).catch(() => undefined);
  return true;
}

/**
 * The newest download of the add-on's own that was started for a job, whatever became of it. After a restart
 * Firefox does not say any more whose it is: then it is known by its name.
 */
export async function findOwn(
  downloads: Downloads,
  job: Job,
  addonId: string,
): Promise<Download | undefined> {
  const found = await downloads.find(job.url);
  // Yesterday's download of the same link is somebody else's.
  return found.find(
    (one) =>
      one.id !== job.originalId &&
      (one.addonId === addonId || (one.addonId === undefined && one.name === job.name)) &&
      (one.startedAtMs ?? job.startedAtMs) >= job.startedAtMs,
  );
}
