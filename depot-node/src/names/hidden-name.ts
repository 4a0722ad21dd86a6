import { isAddressLiteral, LonghaulError } from '@longhaul/shared';

/**
 * Whether a download failed because this depot's name servers give a name, its origin's or one that this leads
 * to, only addresses that depots never connect to. That is their word (filters and networks of several views
 * say so of public servers), and others may know better. Literals have no other meaning elsewhere, nor have
 * names of one label.
 */
export function isHiddenName(failure: unknown): failure is LonghaulError {
  if (!(failure instanceof LonghaulError) || failure.code !== 'address-not-allowed') return false;
  const { depot, detail: host = '' } = failure;
  return depot === undefined && host.includes('.') && !isAddressLiteral(host);
}
