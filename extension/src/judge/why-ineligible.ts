import {
  DIRECT_FRAGMENT,
  isRelayTarget,
  type OriginUrl,
  originTarget,
  parseOriginUrl,
} from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { Settings } from '../settings/settings.ts';
import type { SeenAnswer } from '../watch/seen-answers.ts';
import { factsOf, isComparable } from './file-facts.ts';
import { isLeftPrivate, isPermittedPrivateHost } from './private-host.ts';
import type { WhyLeft } from './why-left.ts';
import { isElsewhere, whyNotShared } from './why-not-shared.ts';

/** A download that the browser tells of later than this after its start is not a new one. */
const JUST_BEGUN_MS = 30_000;

/**
 * The first reason to leave a caught download alone, as far as the download itself tells; `undefined` when the answer
 * that became it is worth a look.
 */
export function whyIneligible(
  download: Download,
  settings: Settings,
  addonId: string,
  nowMs: number,
): WhyLeft | undefined {
  if (download.incognito) return 'incognito';
  if (!settings.enabled) return 'off';
  if (settings.master === '') return 'no-master';
  if (isOwnDownload(download, settings, addonId)) return 'own';
  if (download.addonId !== undefined) return 'other-addon';
  if (download.isContained) return 'container';
  // One that began earlier is being resumed, and would have to start again.
  const ageMs = nowMs - (download.startedAtMs ?? nowMs);
  if (download.state !== 'in_progress' || ageMs > JUST_BEGUN_MS) return 'not-running';
  const urls = urlsOf(download);
  const last = urls.at(-1);
  if (urls.length < 2 || !last) return 'not-http';
  if (isRelayTarget(originTarget(last))) return 'own';
  return urls.some((url) => isLeftPrivate(url, settings.privateHosts)) ? 'private-host' : undefined;
}

/**
 * The first reason to leave it alone in the answer that became it; `undefined` when the master may be told of the
 * download.
 */
export function whyUnshareable(
  download: Download,
  seen: SeenAnswer | undefined,
  settings: Settings,
): WhyLeft | undefined {
  const why = whyNotShared(seen);
  if (why !== undefined || !seen) return why ?? 'unseen';
  const urls = urlsOf(download);
  const page = parseOriginUrl(seen.page || download.referrer);
  const hosts = [...urls.map(({ host }) => host), page.ok ? page.value.host : ''];
  if (hosts.some((host) => settings.sitesOff.includes(host))) return 'site-off';
  const last = urls.at(-1);
  const isPermitted = last && isPermittedPrivateHost(settings.privateHosts, last.host, last.port);
  if (isElsewhere(seen) && !isPermitted) return 'private-address';
  const file = factsOf(seen.status, seen.headers);
  if (!isComparable(file)) return 'no-version';
  return isTooSmall(file.totalBytes ?? download.totalBytes, settings) ? 'small' : undefined;
}

/** Whether a size is known and below what the user lets pass through chains. */
function isTooSmall(totalBytes: number | undefined, settings: Settings): boolean {
  return totalBytes !== undefined && totalBytes < settings.smallestBytes;
}

/** What was asked for and where redirects led; fewer than two where one of them is no web address. */
function urlsOf(download: Download): readonly OriginUrl[] {
  return [download.url, download.finalUrl].flatMap((text) => {
    const url = parseOriginUrl(text);
    return url.ok ? [url.value] : [];
  });
}

function isOwnDownload(download: Download, settings: Settings, addonId: string): boolean {
  if (download.addonId === addonId) return true;
  return [download.url, download.finalUrl].some(
    (url) => url.startsWith(`${settings.master}/`) || url.endsWith(DIRECT_FRAGMENT),
  );
}
