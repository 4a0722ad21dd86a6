import type { PlanAnswer } from '@longhaul/shared';
import type { askMaster } from '../ask/ask-master.ts';
import type { probeDepot } from '../ask/probe-depot.ts';
import type { Download } from '../browser/download.ts';
import { isTooSmall, whyIneligible } from '../judge/why-ineligible.ts';
import type { WhyLeft } from '../judge/why-left.ts';
import { isInsecure, whyNotNow } from '../judge/why-not-now.ts';
import type { Settings } from '../settings/settings.ts';
import { withoutFragment } from '../url-fragment.ts';
import type { RecentRequests } from '../watch/recent-requests.ts';
import { learnSize } from './learn-size.ts';
import { type ReplaceDependencies, replaceDownload } from './replace-download.ts';

export interface TakeDependencies extends ReplaceDependencies {
  readonly addonId: string;
  readonly settings: () => Promise<Settings>;
  readonly requests: RecentRequests;
  readonly askMaster: typeof askMaster;
  readonly probeDepot: typeof probeDepot;
  /** Ends the time that master and depot have together; from then on the original is left alone. */
  readonly deadline: () => AbortSignal;
  readonly pause: (ms: number) => Promise<void>;
}

/** `taken`, or why the download was left as it was. */
export type Outcome = 'taken' | WhyLeft;

/**
 * Takes a download that the browser has just begun through the overlay, if that is possible, allowed and faster.
 * The original goes on until the entry depot has shown that it can deliver the same file.
 */
export async function takeDownload(caught: Download, deps: TakeDependencies): Promise<Outcome> {
  const signal = deps.deadline();
  const settings = await deps.settings();
  const ineligible = whyIneligible(caught, settings, await surroundings(caught, deps));
  if (ineligible) return ineligible;
  const totalBytes = await learnSize(caught, deps);
  if (isTooSmall(totalBytes, settings)) return 'small';
  const request = totalBytes === undefined ? {} : { sizeBytes: totalBytes };
  const plan = await deps.askMaster(
    settings.master,
    { url: withoutFragment(caught.finalUrl), ...request },
    signal,
  );
  if (!plan) return 'master-failed';
  if (plan.decision === 'direct') return 'direct-is-best';
  if (isInsecure(caught, plan)) return 'insecure-chain';
  return proveAndReplace(caught, plan, settings, signal, deps);
}

async function proveAndReplace(
  caught: Download,
  plan: PlanAnswer,
  settings: Settings,
  signal: AbortSignal,
  deps: TakeDependencies,
): Promise<Outcome> {
  const probe = await deps.probeDepot(plan.location, signal);
  if (!probe) return 'depot-failed';
  const now = await deps.downloads.get(caught.id);
  const obstacle = whyNotNow(now, plan, probe, settings);
  if (obstacle || !now) return obstacle ?? 'finished';
  return (await replaceDownload(now, plan, deps)) ? 'taken' : 'finished';
}

async function surroundings(caught: Download, { addonId, jobs, requests }: TakeDependencies) {
  const own = (await jobs.ofUrl(caught.url)) ?? (await jobs.ofDownload(caught.id));
  const wasPosted = (await requests.wasPosted(caught.finalUrl)) || (await requests.wasPosted(caught.url));
  return { addonId, isOwnUrl: own !== undefined, wasPosted, page: requests.pageOf(caught.url) };
}
