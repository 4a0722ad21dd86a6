import type { IncomingHttpHeaders } from 'node:http';
import type { VersionHead } from '../../origin/representation.ts';

/**
 * How an answer stands to the version that a client names in its conditions, to which an origin may pay no
 * heed. `other`: it wants none but its own. `whole-wanted`: the answer is a part of another one, where it
 * wants the whole (`If-Range`).
 */
export type VersionVerdict = 'asked' | 'other' | 'whole-wanted';

/** By what an answer names its version. */
export type Validators = Pick<IncomingHttpHeaders, 'etag' | 'last-modified'>;

/**
 * How each form of a date begins (RFC 9110 section 5.6.7). What V8 takes for one may be a tag without quotes,
 * such as `abc-12`.
 */
const DATE_BEGINS = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

/**
 * Holds an answer to the version that a client names. A part that names no version is left to the client, who
 * knows the others.
 */
export function judgeVersion(
  asked: IncomingHttpHeaders,
  { statusCode, headers }: VersionHead,
): VersionVerdict {
  if (statusCode !== 200 && statusCode !== 206) return 'asked';
  const { 'if-match': ifMatch, 'if-unmodified-since': notSince, 'if-range': ifRange } = asked;
  const isPart = statusCode === 206;
  // Without a date, or with one that is none, nothing is later.
  const isLater = Date.parse(headers['last-modified'] ?? '') > Date.parse(notSince ?? '');
  // RFC 9110 section 13.2.2: the date counts where there is no tag.
  const isOther = ifMatch === undefined ? isLater : !isListed(ifMatch, headers.etag, isPart);
  if (isOther) return 'other';
  return isPart && typeof ifRange === 'string' && isOtherPart(ifRange, headers) ? 'whole-wanted' : 'asked';
}

/**
 * Whether a client names another version than this one, be it an older or a newer one: one that has not what
 * he names is another. Tags say it where he names any, and dates otherwise.
 */
export function namesOtherVersion(
  { 'if-match': ifMatch, 'if-unmodified-since': notSince, 'if-range': ifRange }: IncomingHttpHeaders,
  { etag, 'last-modified': modified = '' }: Validators,
): boolean {
  const range = typeof ifRange === 'string' ? ifRange : undefined;
  const isDate = range !== undefined && DATE_BEGINS.test(range.trim());
  const tags = [ifMatch, isDate ? undefined : range].filter((tag) => tag !== undefined);
  if (tags.length > 0) return tags.some((tag) => !isListed(tag, etag, false));
  const dates = [notSince, isDate ? range : undefined].filter((date) => date !== undefined);
  return dates.some((date) => date !== modified && Date.parse(date) !== Date.parse(modified));
}

/** Whether two answers name the same version, or none. */
export function namesSameVersion(one: Validators, other: Validators): boolean {
  if (one.etag !== undefined || other.etag !== undefined) return one.etag === other.etag;
  return one['last-modified'] === other['last-modified'];
}

/** Tags are compared as if they were strong: browsers resume with weak ones, too. */
function isListed(ifMatch: string, etag: string | undefined, isPart: boolean): boolean {
  if (ifMatch.trim() === '*') return true;
  if (etag === undefined) return isPart;
  // There are origins whose tags have no quotes, and clients give those back as they were.
  const listed: readonly string[] = ifMatch.match(/"[^"]*"/g) ?? [asStrong(ifMatch)];
  return listed.includes(asStrong(etag));
}

function isOtherPart(ifRange: string, { etag, 'last-modified': modified }: IncomingHttpHeaders): boolean {
  if (DATE_BEGINS.test(ifRange.trim()))
    return modified !== undefined && modified !== ifRange && Date.parse(modified) !== Date.parse(ifRange);
  return etag !== undefined && asStrong(etag) !== asStrong(ifRange);
}

function asStrong(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
