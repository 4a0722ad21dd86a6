import type { SeenAnswer } from '../watch/seen-answers.ts';
import { isPrivateHost } from './private-host.ts';
import type { WhyLeft } from './why-left.ts';

/**
 * Why an answer that became a download must not be asked for again by somebody else; `undefined` when nothing speaks
 * against it. It is judged by what the browser itself saw, before anybody else learns of the download.
 */
export function whyNotShared(seen: SeenAnswer | undefined): WhyLeft | undefined {
  if (!seen) return 'unseen';
  if (seen.method !== 'GET') return 'post';
  if (!seen.isFromTab) return 'saved-as';
  // Nothing is faster, and it may be of a host of the intranet, which only its address would tell.
  if (seen.isCached) return 'nearly-done';
  const { headers, first } = seen;
  // Many a redirect sets a cookie that has nothing to do with the file.
  if (isForOne(headers) || headers.has('set-cookie') || (first?.headers && isForOne(first.headers)))
    return 'personal';
  if (!/^(identity)?$/i.test(headers.get('content-encoding') ?? '')) return 'encoded';
  // What cannot be asked for in parts may be good for one request only; and nobody could go on after a break.
  if (seen.status !== 200 || headers.get('accept-ranges')?.toLowerCase() !== 'bytes') return 'no-ranges';
  return undefined;
}

/**
 * Whether the name of a public server leads to a private address here: nobody outside can mean the same
 * server. Where a network without IPv4 maps it into IPv6 (NAT64, RFC 6052) the mapped address counts.
 */
export function isElsewhere({ address }: Pick<SeenAnswer, 'address'>): boolean {
  return address !== undefined && isPrivateHost(address.replace(/^64:ff9b::/i, '::ffff:'));
}

/** Whether the answer depends on who asks, by any of the signs that HTTP has for it. */
function isForOne(headers: Headers): boolean {
  const varies = listOf(headers, 'vary');
  return (
    ['*', 'cookie', 'authorization'].some((name) => varies.includes(name)) ||
    listOf(headers, 'cache-control').some((directive) => /^private\b/.test(directive))
  );
}

/**
 * Whether the origin lets an answer be kept and given out again, so that asking twice is asking for the same. What must
 * not be kept may be counted: such a file is asked for in one piece, and not for a trial before. Of what led to a
 * signed address, which is another one each time, only what must not be stored may be counted.
 */
export function isRepeatable({ headers, first }: SeenAnswer): boolean {
  const mayStore = !listOf(first?.headers ?? new Headers(), 'cache-control').includes('no-store');
  return mayStore && isKept(headers);
}

function isKept(headers: Headers): boolean {
  const directives = [...listOf(headers, 'cache-control'), ...listOf(headers, 'pragma')];
  if (directives.some((directive) => /^(no-store|no-cache|max-age="?0"?$)/.test(directive))) return false;
  if (directives.length > 0) return true;
  const expires = headers.get('expires');
  // A date that is none, such as 0, means the past (RFC 9111 section 5.3).
  return expires === null || Date.parse(expires) > Date.parse(headers.get('date') ?? '');
}

function listOf(headers: Headers, name: string): readonly string[] {
  const items = (headers.get(name) ?? '').toLowerCase().split(',');
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
