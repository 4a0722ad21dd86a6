/**
 * Names of query parameters that grant what an address names to whoever has it, as a pattern that Chromium's rules take, too: Amazon S3
 * (`X-Amz-Signature`, `Signature`), CloudFront, Google Cloud Storage (`X-Goog-Signature`), Azure (`sig`), GitHub (`jwt`), Aliyun, Tencent
 * (`q-signature`), Akamai (`hdnts`, `__token__`), SharePoint (`tempauth`), Backblaze (`Authorization`), nginx (`expires`).
 */
export const SIGNED_QUERY =
  '^[^#?]*[?]([^#]*&)?([a-z_-]*(signature|token|auth)_*|authorization|sign?|jwt|hdnea|hdnts|expires)=';

const SIGNED = new RegExp(SIGNED_QUERY, 'i');

/** Whether an address looks as if it were itself the right to its file, given to one user for a while. */
export function isSigned(url: string): boolean {
  return SIGNED.test(url);
}
