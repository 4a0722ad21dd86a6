import { fileNameOf, isSigned, type OriginUrl } from '@longhaul/shared';
import { type askMaster, leftByMaster } from '../ask/ask-master.ts';
import { leftByDepot, type probeFile } from '../ask/probe-file.ts';
import type { Downloads } from '../browser/downloads.ts';
import { isChromium } from '../browser/target.ts';
import { isComparable } from '../judge/file-facts.ts';
import { isLeftPrivate } from '../judge/private-host.ts';
import { type Left, left, type Outcome } from '../judge/why-left.ts';
import { whyUnfit } from '../judge/why-unfit.ts';
import { parseUrl } from '../parse-url.ts';
import { reportsTo } from '../reports/reports.ts';
import type { Settings } from '../settings/settings.ts';
import { isTunnelled } from '../settings/site-rules.ts';
import type { LastLeft } from '../take/last-left.ts';
import { withoutFragment } from '../url-fragment.ts';
import { directStart } from '../ways/direct-start.ts';
import type { LinkOrder, Way } from '../ways/way.ts';

export interface LinkDependencies {
  readonly downloads: Pick<Downloads, 'start'>;
  readonly way: Pick<Way, 'begin'>;
  readonly settings: () => Promise<Settings>;
  readonly lastLeft: LastLeft;
  readonly askMaster: typeof askMaster;
  readonly probeFile: typeof probeFile;
  readonly deadline: () => AbortSignal;
}

/**
 * Downloads a link through the overlay because the user says so; directly, with the reason kept for the popup, where
 * that cannot be. Nobody's smallest size counts here, but private hosts are left alone as ever.
 */
export async function downloadLink(link: string, page: string, deps: LinkDependencies): Promise<Outcome> {
  const url = parseUrl(link);
  const order = url ? await orderLink(url, withoutFragment(link), page, deps) : left('not-http');
  const outcome = 'why' in order ? order : await deps.way.begin(order);
  if (outcome === 'taken') return outcome;
  await deps.lastLeft.note(url ? fileNameOf(url) : '', outcome);
  // A file that a depot refuses may still be there for this user. Firefox's way goes back to the origin
  // itself once it has begun.
  const hasBegun = !isChromium && !('why' in order) && outcome.why !== 'no-room';
  if (url && !hasBegun) await downloadDirectly(link, page, deps);
  return outcome;
}

/**
 * Downloads a link of a page past the overlay, whatever rules there are. Firefox has to ask for the name that
 * the site offers.
 */
export async function downloadDirectly(
  link: string,
  page: string,
  { downloads, probeFile, deadline }: Pick<LinkDependencies, 'downloads' | 'probeFile' | 'deadline'>,
): Promise<void> {
  const url = withoutFragment(link);
  if (!parseUrl(url)) return;
  // What is signed may be good for one request.
  const probe = isChromium || isSigned(url) ? undefined : await probeFile(url, deadline());
  const name = (probe?.result === 'file' && probe.name) || '';
  await downloads.start(directStart(url, page, name)).catch(() => undefined);
}

/**
 * Starts nothing of a container tab: what an add-on downloads has the cookies of the tabs outside, and would
 * show its site both.
 */
export async function leaveContained(link: string, lastLeft: LastLeft): Promise<void> {
  const url = parseUrl(link);
  if (url) await lastLeft.note(fileNameOf(url), { why: 'container', isUnstarted: true });
}

async function orderLink(
  url: OriginUrl,
  originUrl: string,
  page: string,
  { settings: get, askMaster, probeFile, deadline }: LinkDependencies,
): Promise<LinkOrder | Left> {
  const settings = await get();
  if (settings.master === '') return left('no-master');
  if (isLeftPrivate(url, settings.privateHosts)) return left('private-host');
  if (isTunnelled(url, settings)) return left('tunnel');
  const signal = deadline();
  const reply = await askMaster(settings.master, { url: originUrl }, signal);
  if (reply.result !== 'plan') return leftByMaster(reply);
  const { plan } = reply;
  const unfit = whyUnfit(plan, originUrl, settings);
  if (unfit) return left(unfit);
  const probe = await probeFile(plan.location, signal);
  if (probe.result !== 'file') return leftByDepot(probe);
  if (!isComparable(probe.file)) return left('no-version');
  const name = probe.name ?? '';
  return { originUrl, page, file: probe.file, plan, name, reportsTo: reportsTo(settings) };
}
