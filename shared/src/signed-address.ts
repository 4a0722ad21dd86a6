/**
 * Names of query parameters that grant what an address names to whoever has it, as a pattern that Chromium's
 * rules take, too: Amazon S3 (`X-Amz-Signature`, `Signature`), CloudFront, Google Cloud Storage
 * (`X-Goog-Signature`), Azure (`sig`), GitHub (`jwt`), Aliyun, Tencent (`q-signature`), Akamai (`hdnts`,
 * `__token__`), SharePoint (`tempauth`), Backblaze (`Authorization`), nginx (`expires`).
 */
export const SIGNED_QUERY =
  '^[^#?]*[?]([^#]*&)?([a-z_-]*(signature|token|auth(orization)?)_*|sign?|jwt|hdn(ea|t[ls])|expires)=';

/**
 * The same of a path, where what grants is long: `bcdn_token` (Bunny), `edge-cache-token` (Google's Media
 * CDN), and what ends each of Akamai's.
 */
export const SIGNED_PATH = '^[^#?]*(/[a-z_-]*token|~hmac)=[^/#?]{12}';

/**
 * Names in a query, and `;jsessionid` in a path, of what tells who asks: keys, passwords, sessions. They
 * grant what he may have, and not for a while only.
 */
const KEYED =
  '(;jsessionid|[?]([^#]*&)?([a-z_-]*((licen[cs]e|access|auth|private|secret|sess(ion)?|pass)[_-]?key|secret|passw(or)?d|passphrase|pwd)|hmac|pass|pw))=';

/**
 * Names that mean the same where their value is long. What is short is no secret: a whole site's visitors may
 * have the same one.
 */
const KEYED_AT_LENGTH = '[?]([^#]*&)?[a-z_-]*(api|app)[_-]?key=[^&#]{12}';

/** And has a digit: tickets, tokens of Cloudflare (`verify`), `sid` (`PHPSESSID`), Discord's `hm`. */
const NUMBERED_AT_LENGTH =
  '[?]([^#]*&)?(ticket|verify|hm|[a-z]*sid|[a-z_-]*sess(ion)?([_-]?id)?)=(?=[^&#]*[0-9])[^&#]{16}';

/** And is neither a path nor the name of a file, as the `key` of an object is, unless it ends as base64 does. */
const NO_OBJECT_AT_LENGTH =
  '[?]([^#]*&)?[a-z_-]*key=(?=[^&#]*[0-9])(?=[^&#]*(=|%3d)(&|#|$)|(?![^&#]*(/|%2f|[.][a-z][a-z0-9]{0,7}(&|#|$))))[^&#]{16}';

const KEYED_EITHER = new RegExp(
  `^[^#?]*(${[KEYED, KEYED_AT_LENGTH, NUMBERED_AT_LENGTH, NO_OBJECT_AT_LENGTH].join('|')})`,
  'i',
);
const SIGNED = new RegExp(`${SIGNED_QUERY}|${SIGNED_PATH}`, 'i');

/** nginx's `secure_link` in a path: an MD5 in base64url or hexadecimal, and the second at which it lapses. */
const TIMED = /\/[\w-]{22}(?:[\da-f]{10})?\/(\d{10})\//i;
/**
 * So near now that is. A time further back tells when a file was made, and a link that is good for longer is
 * as good as public.
 */
const NEAR_MS = 7 * 86_400_000;

/**
 * Whether an address looks as if whoever has it could do what its user can: it is signed, or has a key or a
 * session in it.
 */
export function isSecret(url: string, nowMs?: number): boolean {
  return KEYED_EITHER.test(url) || isSigned(url, nowMs);
}

/** Whether an address looks as if it were itself the right to its file, given to one user for a while. */
export function isSigned(url: string, nowMs = Date.now()): boolean {
  return SIGNED.test(url) || Math.abs(Number(TIMED.exec(url)?.[1]) * 1000 - nowMs) < NEAR_MS;
}
