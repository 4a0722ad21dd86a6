import type { PlanAnswer } from '@longhaul/shared';
import type { askMaster, PlanReply } from '../ask/ask-master.ts';
import type { Probe, probeDepot } from '../ask/probe-depot.ts';
import type { Download } from '../browser/download.ts';
import { type FileFacts, factsOf, isSameFile } from '../judge/file-facts.ts';
import { whyIneligible, whyUnshareable } from '../judge/why-ineligible.ts';
import { type Left, sayCode, type WhyLeft } from '../judge/why-left.ts';
import { whyNotNow } from '../judge/why-not-now.ts';
import { whyUnfit } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';
import { withoutFragment } from '../url-fragment.ts';
import type { SeenAnswers } from '../watch/seen-answers.ts';
import { type ReplaceDependencies, replaceDownload } from './replace-download.ts';

export interface TakeDependencies extends ReplaceDependencies {
  readonly addonId: string;
  readonly now: () => number;
  readonly settings: () => Promise<Settings>;
  readonly answers: Pick<SeenAnswers, 'answerTo'>;
  readonly askMaster: typeof askMaster;
  readonly probeDepot: typeof probeDepot;
  /** Ends the time that master and depot have together; from then on the original is left alone. */
  readonly deadline: () => AbortSignal;
}

/** `taken`, or why the download was left as it was. */
export type Outcome = 'taken' | Left;

/**
 * Takes a download that the browser has just begun through the overlay, if that is possible, allowed and faster.
 * The original goes on until the entry depot has shown that it can deliver the same file.
 */
export async function takeDownload(caught: Download, deps: TakeDependencies): Promise<Outcome> {
  const settings = await deps.settings();
  const ineligible = whyIneligible(caught, settings, deps.addonId, deps.now());
  if (ineligible) return left(ineligible);
  const seen = await deps.answers.answerTo(caught.finalUrl);
  const unshareable = whyUnshareable(caught, seen, settings);
  if (unshareable !== undefined || !seen) return left(unshareable ?? 'unseen');
  const file = factsOf(seen.status, seen.headers);
  const url = withoutFragment(caught.finalUrl);
  const signal = deps.deadline();
  const size = file.totalBytes === undefined ? {} : { sizeBytes: file.totalBytes };
  const reply = await deps.askMaster(settings.master, { url, ...size }, signal);
  if (reply.result !== 'plan') return leftByMaster(reply);
  const unfit = whyUnfit(reply.plan, url, settings);
  return unfit ? left(unfit) : proveAndReplace(caught, file, reply.plan, signal, deps);
}

async function proveAndReplace(
  caught: Download,
  file: FileFacts,
  plan: PlanAnswer,
  signal: AbortSignal,
  deps: TakeDependencies,
): Promise<Outcome> {
  const probe = await deps.probeDepot(plan.location, signal);
  if (probe.result !== 'file') return leftByDepot(probe);
  if (!isSameFile(file, probe.file)) return left('different-file');
  const now = await deps.downloads.get(caught.id);
  const obstacle = whyNotNow(now, plan, file.totalBytes);
  if (obstacle || !now) return left(obstacle ?? 'finished');
  return (await replaceDownload(now, plan, deps)) ? 'taken' : left('finished');
}

function left(why: WhyLeft, detail?: string): Left {
  return detail === undefined ? { why } : { why, detail };
}

function leftByMaster(reply: Exclude<PlanReply, { result: 'plan' }>): Left {
  if (reply.result === 'refused') return left('master-refused', `${reply.message} (${reply.code})`);
  return left(reply.result === 'silent' ? 'master-silent' : 'no-master-there');
}

function leftByDepot(probe: Exclude<Probe, { result: 'file' }>): Left {
  if (probe.result === 'silent') return left('depot-silent');
  return left('depot-refused', sayCode(probe.code));
}
