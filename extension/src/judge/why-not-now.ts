import { isAddressLiteral, type PlanAnswer, parseOriginUrl } from '@longhaul/shared';
import type { Probe } from '../ask/probe-depot.ts';
import type { Download } from '../browser/download.ts';
import type { Settings } from '../settings/settings.ts';
import { isSameFile } from './is-same-file.ts';
import { isTooSmall } from './why-ineligible.ts';
import type { WhyLeft } from './why-left.ts';

/** The last look before the original is ended: the first reason to leave it alone after all. */
export function whyNotNow(
  now: Download | undefined,
  plan: PlanAnswer,
  probe: Probe,
  settings: Settings,
): WhyLeft | undefined {
  if (now?.state !== 'in_progress' || now.paused) return 'finished';
  // No name yet means that the user is being asked where to save: the answer would be lost.
  if (now.name === '') return 'name-open';
  if (!isSameFile(now, probe)) return 'different-file';
  const totalBytes = now.totalBytes ?? probe.totalBytes;
  if (isTooSmall(totalBytes, settings)) return 'small';
  return isFasterFromStart(now.bytesReceived, totalBytes, plan) ? undefined : 'nearly-done';
}

/** Whether the chain, from the first byte, is expected to end before the rest of the original. */
function isFasterFromStart(bytesReceived: number, totalBytes: number | undefined, plan: PlanAnswer): boolean {
  const rest = totalBytes === undefined ? 1 : 1 - bytesReceived / totalBytes;
  return plan.prediction.seconds < plan.direct.seconds * rest;
}

/** Whether the plan would carry a file over plain HTTP that the browser gets under TLS. */
export function isInsecure(download: Download, plan: PlanAnswer): boolean {
  return isEncrypted(download.finalUrl) && ![plan.location, plan.masterUrl].every(isEncrypted);
}

function isEncrypted(text: string): boolean {
  const url = parseOriginUrl(text);
  return url.ok && (url.value.scheme === 'https' || isLoopback(url.value.host));
}

/** What stays on this machine cannot be overheard. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isAddressLiteral(host) && host.startsWith('127.'));
}
