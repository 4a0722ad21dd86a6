/**
 * Names of query parameters that grant what an address names to whoever has it, as a pattern that Chromium's rules take, too: Amazon S3
 * (`X-Amz-Signature`, `Signature`), CloudFront, Google Cloud Storage (`X-Goog-Signature`), Azure (`sig`), GitHub (`jwt`), Aliyun, Tencent
 * (`q-signature`), Akamai (`hdnts`, `__token__`), SharePoint (`tempauth`), Backblaze (`Authorization`), nginx (`expires`).
 */
export const SIGNED_QUERY =
  '^[^#?]*[?]([^#]*&)?([a-z_-]*(signature|token|auth(orization)?)_*|sign?|jwt|hdn(ea|t[ls])|expires)=';

/** The same of a path, where what grants is long: `bcdn_token` (Bunny), `edge-cache-token` (Google's Media CDN), and what ends each of Akamai's. */
export const SIGNED_PATH = '^[^#?]*(/[a-z_-]*token|~hmac)=[^/#?]{12}';

/** Names in a query, and `;jsessionid` in a path, of what tells who asks: keys, passwords, sessions. They grant what he may have, and not for a while only. */
const KEYED =
  '^[^#?]*(;jsessionid|[?]([^#]*&)?([a-z_-]*((api|app|licen[cs]e|access|auth|private|secret|sess(ion)?|pass)[_-]?key|secret|passw(or)?d|pwd)|hmac))=';

/** Names that mean the same where their value is long and no name of a file: the `key` of an object has a dot. `sid` (`PHPSESSID`), Discord's `hm`. */
const KEYED_AT_LENGTH =
  '^[^#?]*[?]([^#]*&)?(key|ticket|verify|hm|sid|[a-z_]*sess(ion)?(_?id)?)=[a-z0-9_%-]{16,}(&|#|$)';

const KEYED_EITHER = new RegExp(`${KEYED}|${KEYED_AT_LENGTH}`, 'i');
const SIGNED = new RegExp(`${SIGNED_QUERY}|${SIGNED_PATH}`, 'i');

/** nginx's `secure_link` in a path: an MD5 in base64url or hexadecimal, and the second at which it lapses. */
const TIMED = /\/[\w-]{22}(?:[\da-f]{10})?\/(\d{10})\//i;
/** So near now that is. A time further back tells when a file was made, and a link that is good for longer is as good as public. */
const NEAR_MS = 7 * 86_400_000;

/** Whether an address looks as if whoever has it could do what its user can: it is signed, or has a key or a session in it. */
export function isSecret(url: string, nowMs?: number): boolean {
  return KEYED_EITHER.test(url) || isSigned(url, nowMs);
}

/** Whether an address looks as if it were itself the right to its file, given to one user for a while. */
export function isSigned(url: string, nowMs = Date.now()): boolean {
  return SIGNED.test(url) || Math.abs(Number(TIMED.exec(url)?.[1]) * 1000 - nowMs) < NEAR_MS;
}
