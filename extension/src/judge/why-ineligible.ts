import {
  DIRECT_FRAGMENT,
  isRelayTarget,
  type OriginUrl,
  originTarget,
  parseOriginUrl,
} from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { Settings } from '../settings/settings.ts';
import { isPermittedPrivateHost, isPrivateHost } from './private-host.ts';
import type { WhyLeft } from './why-left.ts';

/** What else is known about a download when it is caught. */
export interface Surroundings {
  /** Id of this add-on. */
  readonly addonId: string;
  /** Whether the add-on itself asked for this URL. */
  readonly isOwnUrl: boolean;
  /** Whether its URL was last asked with another method than GET. */
  readonly wasPosted: boolean;
  /** The page that led to it; empty when unknown. */
  readonly page: string;
}

/** The first reason to leave a caught download alone; `undefined` when the master may be asked about it. */
export function whyIneligible(
  download: Download,
  settings: Settings,
  around: Surroundings,
): WhyLeft | undefined {
  if (download.incognito) return 'incognito';
  if (!settings.enabled) return 'off';
  if (settings.master === '') return 'no-master';
  if (around.isOwnUrl || isOwnDownload(download, settings, around.addonId)) return 'own';
  if (download.addonId !== undefined) return 'other-addon';
  // One that has bytes already is being resumed, and would have to start again.
  if (download.state !== 'in_progress' || download.bytesReceived > 0) return 'not-running';
  const urls = [download.url, download.finalUrl].map((url) => parseOriginUrl(url));
  const [first, last] = urls;
  if (!first?.ok || !last?.ok) return 'not-http';
  if (isRelayTarget(originTarget(last.value))) return 'own';
  if (around.wasPosted) return 'post';
  if ([first.value, last.value].some((url) => isLeftPrivate(url, settings))) return 'private-host';
  const page = parseOriginUrl(around.page || download.referrer);
  const hosts = [first.value.host, last.value.host, page.ok ? page.value.host : ''];
  if (hosts.some((host) => settings.sitesOff.includes(host))) return 'site-off';
  return isTooSmall(download.totalBytes, settings) ? 'small' : undefined;
}

/** Whether a size is known and below what the user lets pass through chains. */
export function isTooSmall(totalBytes: number | undefined, settings: Settings): boolean {
  return totalBytes !== undefined && totalBytes < settings.smallestBytes;
}

function isOwnDownload(download: Download, settings: Settings, addonId: string): boolean {
  if (download.addonId === addonId) return true;
  return [download.url, download.finalUrl].some(
    (url) => url.startsWith(`${settings.master}/`) || url.endsWith(DIRECT_FRAGMENT),
  );
}

function isLeftPrivate(url: OriginUrl, settings: Settings): boolean {
  return isPrivateHost(url.host) && !isPermittedPrivateHost(settings.privateHosts, url.host, url.port);
}
