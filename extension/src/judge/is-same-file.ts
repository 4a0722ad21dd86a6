import { essence, type Probe } from '../ask/probe-depot.ts';
import type { Download } from '../browser/download.ts';

/** Types that only say "some bytes": a browser or a server that gives one knows nothing better. */
const VAGUE = new Set([
  'application/octet-stream',
  'binary/octet-stream',
  'application/binary',
  'application/download',
  'application/x-download',
  'application/force-download',
  'application/unknown',
  'application/x-unknown',
]);

/** Types of login pages, error messages and listings, which servers also send in place of a file. */
const MESSAGES = new Set([
  'text/html',
  'application/xhtml+xml',
  'application/json',
  'application/problem+json',
  'text/xml',
  'application/xml',
]);

/** Whether the depot's answer can be the file that the browser is downloading: length and type, where known. */
export function isSameFile(download: Download, probe: Probe): boolean {
  const bothKnown = download.totalBytes !== undefined && probe.totalBytes !== undefined;
  if (bothKnown && download.totalBytes !== probe.totalBytes) return false;
  const browsers = known(download.mime);
  const depots = known(probe.mime);
  // Browsers look into the bytes of vague types and of plain text, so any type but a message's may be right.
  if (browsers === '') return !MESSAGES.has(depots);
  return depots === '' || browsers === depots;
}

/** The media type in one spelling; empty when it is missing or vague. */
function known(mediaType: string): string {
  const type = essence(mediaType);
  return VAGUE.has(type) ? '' : type.replace('/x-', '/');
}
