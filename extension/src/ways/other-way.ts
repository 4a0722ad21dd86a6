import type { askMaster, PlanReply } from '../ask/ask-master.ts';
import type { Probe, probeFile } from '../ask/probe-file.ts';
import type { Download } from '../browser/download.ts';
import type { GoOn, Lead } from '../jobs/continuation.ts';
import type { Job } from '../jobs/job.ts';
import { type FileFacts, isComparable, isSameFile, versionIn } from '../judge/file-facts.ts';
import { mayBeTold } from '../judge/rules.ts';
import { sayCode } from '../judge/why-left.ts';
import { whyUnfit } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';
import { type ChainWay, wayOf } from './way.ts';

/** Who is asked for another way than the one that a job has. */
export interface OtherWayDependencies {
  readonly settings: () => Promise<Settings>;
  readonly askMaster: typeof askMaster;
  readonly probeFile: typeof probeFile;
  readonly deadline: () => AbortSignal;
}

/** From the origin itself: there is nothing of what only a plan says. */
type DirectWay = { readonly way: 'direct'; readonly chain: readonly [] } & {
  readonly [key in Exclude<keyof ChainWay, 'way' | 'chain'>]?: never;
};

/** Where a job's bytes can come from; `file`: what they are there, where another version does as well. */
export type OtherWay = (ChainWay | DirectWay) & Partial<Pick<Job, 'file' | 'isOriginsOnly'>>;

export const DIRECT: OtherWay = { way: 'direct', chain: [] };

/** What is wrong with a place, for people: empty where nobody said anything. */
interface Problem {
  readonly way?: undefined;
  readonly problem: string;
  /** A depot's own code. */
  readonly code?: string;
  /** The version that the place has, where that is another one. */
  readonly file?: FileFacts;
}

/** Another way, or what is wrong. */
export type Found = { readonly way: OtherWay; readonly problem?: undefined } | Problem;

/** What a depot says to who wants the end of a file that is not what the origin states. */
const WRONG_CODE = 'origin-digest-wrong';
/** What is wrong with a place that has the file, but not as it was when the job began. */
const OTHER_VERSION = 'other version';

/**
 * The way that the master plans past these depots: the direct one where that is best, or where no master may
 * be told of the job. Nobody has looked yet whether the file is there.
 */
export async function planAnew(
  { settings, askMaster, deadline }: OtherWayDependencies,
  job: Job,
  avoid?: readonly string[],
): Promise<Found> {
  const set = await settings();
  if (!mayBeTold(job, set)) return { way: DIRECT };
  const request = { url: job.originUrl, sizeBytes: job.file.totalBytes, avoid: avoid && [...avoid] };
  const reply = await askMaster(set.master, request, deadline());
  if (reply.result !== 'plan') return { problem: problemOf(reply) };
  const unfit = whyUnfit(reply.plan, job.originUrl, set);
  if (unfit === 'direct-is-best') return { way: DIRECT };
  return unfit ? { problem: '' } : { way: wayOf(reply.plan) };
}

/** What is found by asking; `nobody` where a master and a place of the file were asked, and none answered. */
export async function unlessSilent<Way>(
  deps: OtherWayDependencies,
  find: (deps: OtherWayDependencies) => Promise<Way>,
): Promise<Way | 'nobody'> {
  const results: string[] = [];
  const noting =
    <Asked extends unknown[], Reply extends { readonly result: string }>(
      ask: (...asked: Asked) => Promise<Reply>,
    ) =>
    async (...asked: Asked): Promise<Reply> => {
      const reply = await ask(...asked);
      results.push(reply.result);
      return reply;
    };
  const { askMaster, probeFile } = deps;
  const found = await find({ ...deps, askMaster: noting(askMaster), probeFile: noting(probeFile) });
  return results.length > 1 && results.every((result) => result === 'silent') ? 'nobody' : found;
}

/**
 * A way over depots that has this byte of a job's file. It avoids the first of these lists past which there is one.
 * @param isAnew see `proved`
 */
export async function wayOverDepots(
  deps: OtherWayDependencies,
  job: Job,
  avoided: readonly (readonly string[])[],
  atByte: number,
  isAnew = false,
): Promise<OtherWay | undefined> {
  for (const avoid of avoided) {
    const { way } = await planAnew(deps, job, avoid);
    const found = way?.location ? await proved(deps, job, way, atByte, isAnew) : undefined;
    if (found?.way) return found.way;
  }
  return undefined;
}

/**
 * The way that the user wants, if it has this byte of a job's file. `elsewhere`: over depots that are not in
 * the job's chain, or at least not at its beginning.
 * @param isAnew see `proved`
 */
export async function wantedWay(
  deps: OtherWayDependencies,
  job: Job,
  to: Lead,
  atByte: number,
  isAnew = false,
): Promise<OtherWay | undefined> {
  if (to === 'elsewhere') return wayOverDepots(deps, job, [job.chain, job.chain.slice(0, 1)], atByte, isAnew);
  return (await proved(deps, job, DIRECT, atByte, isAnew)).way;
}

/**
 * A way for a file whose bytes did not come right over its depots, from its beginning. Once that is over
 * others: where they find the same, the origin itself says what is not so, and the browser and its user have
 * what it gives.
 */
export async function wayFromWrong(deps: OtherWayDependencies, job: Job): Promise<Found> {
  const over = job.restarts === 0 && (await wantedWay(deps, job, 'elsewhere', 0, true));
  return over ? { way: over } : proved(deps, job, { ...DIRECT, isOriginsOnly: true }, 0, true);
}

/**
 * A way, if it has this byte of a job's file.
 * @param isAnew whether what is on disk is worth nothing: then any version does that can be told from others
 */
export async function proved(
  deps: OtherWayDependencies,
  job: Job,
  way: OtherWay,
  atByte: number,
  isAnew = false,
): Promise<Found> {
  const problem = await problemAt(deps, way.location ?? job.originUrl, job, atByte);
  const file = problem?.file;
  return isAnew && file && isComparable(file) ? { way: { ...way, file } } : (problem ?? { way });
}

/** What is wrong with this byte of a job's file at a depot or the origin; `undefined` where it is there. */
export async function problemAt(
  { probeFile, deadline }: OtherWayDependencies,
  location: string,
  { file }: Job,
  atByte: number,
): Promise<Problem | undefined> {
  let probe = await probeFile(location, deadline(), atByte);
  // Of another version perhaps, to somebody else behind the same address: the browser, which names its own,
  // may have the rest.
  if (isKnownWrong(probe)) probe = await probeFile(location, deadline(), atByte, versionIn(file));
  if (probe.result !== 'file') return { ...probe, problem: problemOf(probe) };
  return isSameFile(file, probe.file) ? undefined : { ...probe, problem: OTHER_VERSION };
}

/** What becomes of a download that is whole and not the file: nothing where the site has that as its new version. */
export async function judgeOther(
  { probeFile, deadline }: OtherWayDependencies,
  { originUrl }: Job,
  { totalBytes }: Download,
): Promise<GoOn> {
  const probe = await probeFile(originUrl, deadline());
  if (probe.result !== 'file') return { result: 'not-yet', problem: '' };
  return probe.file.totalBytes === totalBytes
    ? { result: 'moved', patch: { file: probe.file, state: 'running' } }
    : { result: 'not-yet', problem: OTHER_VERSION };
}

/** Whether a depot refuses what it has found not to be what the origin states. */
export function isKnownWrong(answer: Probe | Problem): boolean {
  return 'code' in answer && answer.code === WRONG_CODE;
}

function problemOf(answer: Exclude<Probe | PlanReply, { result: 'file' | 'plan' }>): string {
  return answer.result === 'refused' ? sayCode(answer.code) : '';
}
