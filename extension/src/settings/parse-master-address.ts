import { hostHeader, isAddressLiteral } from '@longhaul/shared';
import { parseUrl } from '../parse-url.ts';

/**
 * The base URL of a master as `scheme://host[:port]`; `undefined` when the text is not one. Without a scheme
 * it is https, but on this machine, where hardly anybody has a certificate.
 */
export function parseMasterAddress(text: string): string | undefined {
  const typed = text.trim();
  const parsed = parseUrl(/^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`);
  if (parsed?.path !== '/' || parsed.query !== null) return undefined;
  const here = typed.includes('://') ? undefined : parseUrl(`http://${typed}`);
  const url = here && isThisMachine(here.host) ? here : parsed;
  return `${url.scheme}://${hostHeader(url)}`;
}

/** Whether what is sent to this host stays on this machine. */
export function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isAddressLiteral(host) && host.startsWith('127.'));
}
