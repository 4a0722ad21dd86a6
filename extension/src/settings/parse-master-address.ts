import { hostHeader, isAddressLiteral, parseOriginUrl } from '@longhaul/shared';

/**
 * The base URL of a master as `scheme://host[:port]`; `undefined` when the text is not one. Without a scheme
 * it is https, but on this machine, where hardly anybody has a certificate.
 */
export function parseMasterAddress(text: string): string | undefined {
  const typed = text.trim();
  const parsed = parseOriginUrl(/^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`);
  if (!parsed.ok || parsed.value.path !== '/' || parsed.value.query !== null) return undefined;
  const here = typed.includes('://') ? undefined : parseOriginUrl(`http://${typed}`);
  const url = here?.ok && isThisMachine(here.value.host) ? here.value : parsed.value;
  return `${url.scheme}://${hostHeader(url)}`;
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isAddressLiteral(host) && host.startsWith('127.'));
}
