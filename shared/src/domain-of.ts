import { clientPrefix, isAddressLiteral } from './address-policy.ts';

/** Names that countries keep for what is registered below them, as `co` of `co.uk`. */
const REGISTRIES = new Set(['ac', 'co', 'com', 'edu', 'go', 'gov', 'mil', 'ne', 'net', 'or', 'org']);

/**
 * Whose a canonical host is, as far as its text tells: of a name the domain that somebody has registered,
 * which may have names without end; of an address its network, a /24 or /48. The list of all suffixes is
 * large and changes weekly. Without it hosts of some providers count as one, and are bounded together.
 */
export function domainOf(host: string): string {
  if (isAddressLiteral(host)) return clientPrefix(host);
  const labels = host.split('.');
  const [registry = '', country = ''] = labels.slice(-2);
  return labels.slice(country.length === 2 && REGISTRIES.has(registry) ? -3 : -2).join('.');
}
