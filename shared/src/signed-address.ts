/**
 * Names of query parameters that grant what an address names to whoever has it, as a pattern that Chromium's rules take, too: Amazon S3
 * (`X-Amz-Signature`, `Signature`), CloudFront, Google Cloud Storage (`X-Goog-Signature`), Azure (`sig`), GitHub (`jwt`), Aliyun, Tencent
 * (`q-signature`), Akamai (`hdnts`, `__token__`), SharePoint (`tempauth`), Backblaze (`Authorization`), nginx (`expires`).
 */
export const SIGNED_QUERY =
  '^[^#?]*[?]([^#]*&)?([a-z_-]*(signature|token|auth(orization)?)_*|sign?|jwt|hdn(ea|t[ls])|expires)=';

/** The same of a path, where what grants is long: `bcdn_token` (Bunny), `edge-cache-token` (Google's Media CDN), and what ends each of Akamai's. */
export const SIGNED_PATH = '^[^#?]*(/[a-z_-]*token|~hmac)=[^/#?]{12}';

const SIGNED = new RegExp(`${SIGNED_QUERY}|${SIGNED_PATH}`, 'i');

/** nginx's `secure_link` in a path: an MD5 in base64url or hexadecimal, and the second at which it lapses. */
const TIMED = /\/[\w-]{22}(?:[\da-f]{10})?\/(\d{10})\//i;
/** So near now that is. A time further back tells when a file was made, and a link that is good for longer is as good as public. */
const NEAR_MS = 7 * 86_400_000;

/** Whether an address looks as if it were itself the right to its file, given to one user for a while. */
export function isSigned(url: string, nowMs = Date.now()): boolean {
  return SIGNED.test(url) || Math.abs(Number(TIMED.exec(url)?.[1]) * 1000 - nowMs) < NEAR_MS;
}
