import { isAddressLiteral, type LonghaulError, type OriginUrl } from '@longhaul/shared';

/**
 * Whether a download failed because this depot's name servers give its origin's name only addresses that
 * depots never connect to. That is their word (filters and networks of several views say so of public
 * servers), and others may know better. Literals have no other meaning elsewhere, nor have names of one label.
 */
export function isHiddenName({ code, depot, detail }: LonghaulError, { host }: OriginUrl): boolean {
  if (code !== 'address-not-allowed' || depot !== undefined || detail !== host) return false;
  return host.includes('.') && !isAddressLiteral(host);
}
