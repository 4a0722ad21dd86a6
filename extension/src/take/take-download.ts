import type { PlanAnswer } from '@longhaul/shared';
import { type askMaster, leftByMaster } from '../ask/ask-master.ts';
import { type greetDepot, leftByDepot, type probeFile } from '../ask/probe-file.ts';
import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { JobKeeper } from '../jobs/job-keeper.ts';
import { factsOf, isSameFile, isStrongTag } from '../judge/file-facts.ts';
import { whyByRules } from '../judge/rules.ts';
import { type Left, left, type Outcome, type WhyLeft } from '../judge/why-left.ts';
import { whyNotNow } from '../judge/why-not-now.ts';
import { isRepeatable } from '../judge/why-not-shared.ts';
import { isLeftForeign, whyUnfit } from '../judge/why-unfit.ts';
import { parseUrl } from '../parse-url.ts';
import { reportsTo } from '../reports/reports.ts';
import type { Settings } from '../settings/settings.ts';
import { withoutFragment } from '../url-fragment.ts';
import type { HeldKeys } from '../watch/held-keys.ts';
import type { SeenAnswer, SeenAnswers } from '../watch/seen-answers.ts';
import type { TakeOrder, Way } from '../ways/way.ts';

export interface TakeDependencies {
  readonly addonId: string;
  readonly now: () => number;
  readonly downloads: Downloads;
  readonly keeper: Pick<JobKeeper, 'look' | 'expect'>;
  readonly way: Pick<Way, 'standsBeside' | 'take'>;
  readonly settings: () => Promise<Settings>;
  readonly answers: Pick<SeenAnswers, 'answerTo'>;
  readonly heldKeys: Pick<HeldKeys, 'isHeld'>;
  /** Whether a download goes where those of the add-on go, without the user having chosen. */
  readonly isUsualPlace: (download: Download) => Promise<boolean>;
  /** Whether the browser lets the add-on reach these addresses. */
  readonly hasAccess: (urls: readonly string[]) => Promise<boolean>;
  readonly askMaster: typeof askMaster;
  readonly probeFile: typeof probeFile;
  readonly greetDepot: typeof greetDepot;
  /** Ends the time that master and depot have together; from then on the original is left alone. */
  readonly deadline: () => AbortSignal;
  /** Told of a download that goes on directly because a plan calls that the best way. */
  readonly plannedDirect: (download: Download, jobId: string, master: string) => Promise<void>;
  /** Told of a plan's depot that does not answer. */
  readonly depotIsSilent: (location: string) => Promise<void>;
}

/**
 * Takes a download that the browser has just begun through the overlay, if that is possible, allowed and faster.
 * The original goes on until the plan is there and its entry depot answers.
 */
export async function takeDownload(caught: Download, deps: TakeDependencies): Promise<Outcome> {
  const settings = await deps.settings();
  const known = { download: caught, settings, addonId: deps.addonId, nowMs: deps.now() };
  const ineligible = whyByRules({ ...known, seen: 'later', isKeyHeld: false, hasAccess: true });
  if (ineligible) return left(ineligible);
  const seen = await deps.answers.answerTo(caught.finalUrl);
  const asked = asAsked(caught, seen);
  const unshareable = await whyUnshareable(asked, seen, settings, deps);
  if (unshareable !== undefined || !seen) return left(unshareable ?? 'unseen');
  if (!(await deps.isUsualPlace(caught))) return left('saved-as');
  const order = await planFor(asked, seen, settings, deps);
  if (!('plan' in order)) return order;
  const now = await deps.downloads.get(caught.id);
  const obstacle = whyNotNow(now, order.plan, order.file.totalBytes, secondsSince(now, seen, deps.now()));
  if (obstacle || !now) return left(obstacle ?? 'finished');
  deps.keeper.expect();
  const outcome = await deps.way.take({ ...order, original: now });
  // What happened to it before its id was known went unnoticed.
  if (outcome === 'taken') await deps.keeper.look();
  return outcome;
}

/**
 * How long a download has been bringing bytes: Firefox fetches what it asks the user about, and lets it begin
 * with the answer.
 */
function secondsSince(download: Download | undefined, { atMs }: SeenAnswer, nowMs: number): number {
  const started = [download?.startedAtMs, atMs].filter((timeMs) => timeMs !== undefined);
  return (nowMs - Math.min(...started)) / 1_000;
}

/** The order by which an answer's file comes through depots, though it is no download yet, or why it does not. */
export async function orderByAnswer(
  wouldBe: Download,
  seen: SeenAnswer,
  deps: TakeDependencies,
): Promise<TakeOrder | Left> {
  const settings = await deps.settings();
  const asked = asAsked(wouldBe, seen);
  const unshareable = await whyUnshareable(asked, seen, settings, deps);
  return unshareable ? left(unshareable) : planFor(asked, seen, settings, deps);
}

/** With what redirects to a signed address began with, which Firefox does not say of a download. */
function asAsked(download: Download, seen: SeenAnswer | undefined): Download {
  return { ...download, url: seen?.first?.url ?? download.url };
}

async function whyUnshareable(
  download: Download,
  seen: SeenAnswer | undefined,
  settings: Settings,
  { addonId, now, heldKeys, hasAccess: mayReach }: TakeDependencies,
): Promise<WhyLeft | undefined> {
  const hasAccess = await mayReach([download.finalUrl, settings.master]);
  const isKeyHeld = heldKeys.isHeld(seen?.page || download.referrer, settings.bypassKey);
  return whyByRules({ download, seen, settings, addonId, nowMs: now(), isKeyHeld, hasAccess });
}

/** Asks the master for a plan, and its entry depot for the file. */
async function planFor(
  original: Download,
  seen: SeenAnswer,
  settings: Settings,
  deps: TakeDependencies,
): Promise<TakeOrder | Left> {
  const file = factsOf(seen.status, seen.headers);
  // What is signed is for one user, and for a while; what redirected to it is for whoever may have it.
  const originUrl = withoutFragment(seen.first?.url ?? original.finalUrl);
  const signal = deps.deadline();
  const asked = { url: originUrl, sizeBytes: file.totalBytes };
  const reply = await deps.askMaster(settings.master, asked, signal);
  if (reply.result !== 'plan') return leftByMaster(reply);
  const { plan } = reply;
  if (reportsTo(settings)) void meetDepots(plan, settings, deps);
  const unfit = whyUnfit(plan, originUrl, settings);
  if (unfit === 'direct-is-best') await deps.plannedDirect(original, plan.jobId, settings.master);
  if (unfit) return left(unfit);
  if (!(await deps.hasAccess([plan.location]))) return left('no-access');
  const inOnePiece = !isRepeatable(seen);
  const own = { inOnePiece, plan, reportsTo: reportsTo(settings) };
  const order = { original, originUrl, page: seen.page, file, ...own };
  const unproved = await whyUnproved(order, signal, deps);
  if (unproved?.why === 'depot-silent') await deps.depotIsSilent(plan.location);
  return unproved ?? (await whyNoMore(order, deps)) ?? order;
}

/** Greets the depots that the master wants to know how far they are: they see it by the connection itself. */
async function meetDepots(
  { toMeet = [] }: PlanAnswer,
  settings: Settings,
  { greetDepot, hasAccess, deadline }: TakeDependencies,
): Promise<void> {
  for (const place of toMeet) {
    const depot = parseUrl(place);
    const mayMeet = depot && !isLeftForeign(depot, settings) && (await hasAccess([place]));
    if (mayMeet) await greetDepot(place, deadline());
  }
}

/** Why the settings, as they are by now, leave it alone: the user may have changed them meanwhile. */
async function whyNoMore(
  { original: download, originUrl, plan }: TakeOrder,
  { settings: settingsNow, addonId, now }: TakeDependencies,
): Promise<Left | undefined> {
  const settings = await settingsNow();
  const known = { download, settings, addonId, nowMs: now(), isKeyHeld: false, hasAccess: true };
  const why = whyByRules({ ...known, seen: 'later' }) ?? whyUnfit(plan, originUrl, settings);
  return why && left(why);
}

/**
 * Whether the depot has the same file. For the origin this trial is one request. Where its answers say that
 * requests may count, there is none: the depot is only greeted, and what it then gives is held to the
 * version, by its `If-Match` in Chromium, and by the browser's look at the answer in Firefox. Chromium
 * compares nothing itself, so there a file without a strong tag is tried.
 */
async function whyUnproved(
  { plan, file, inOnePiece }: TakeOrder,
  signal: AbortSignal,
  { way, probeFile, greetDepot }: TakeDependencies,
): Promise<Left | undefined> {
  if (inOnePiece && (!way.standsBeside || isStrongTag(file.etag)))
    return (await greetDepot(plan.location, signal)) ? undefined : left('depot-silent');
  const probe = await probeFile(plan.location, signal);
  if (probe.result !== 'file') return leftByDepot(probe);
  return isSameFile(file, probe.file) ? undefined : left('different-file');
}
