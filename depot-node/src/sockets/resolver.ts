import { lookup } from 'node:dns/promises';
import { isAddressLiteral } from '@longhaul/shared';

/** Gives the addresses of a host, literals included; throws what DNS throws. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A resolver that asks the static table `names` before DNS. */
export function createResolver(names: Readonly<Record<string, readonly string[]>>): Resolve {
  return async (host) => {
    if (isAddressLiteral(host)) return [host];
    if (Object.hasOwn(names, host)) return names[host] ?? [];
    const found = await lookup(host, { all: true, order: 'verbatim' });
    return found.map((entry) => entry.address);
  };
}
