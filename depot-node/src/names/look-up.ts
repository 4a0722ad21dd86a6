import { Resolver } from 'node:dns/promises';
import { afterWaiting } from '../racing/after-waiting.ts';

/** IPv6 is waited for so long once there are IPv4 addresses (RFC 8305, section 3). */
const RESOLUTION_DELAY_MS = 50;
/** A name server that has not answered by then is asked again, or the next one is. */
const TRY_MS = 1500;
/**
 * IPv4 is waited for until it has been asked for once more: many depots have no IPv6, and then nothing else
 * leads to the origin.
 */
const IPV4_DELAY_MS = TRY_MS + 500;
/** How often each name server is asked. */
const TRIES = 2;
/** Addresses taken of one family: more are not tried anyway, and whoever owns the name decides how many there are. */
const MAX_ADDRESSES = 32;

/** What DNS says of a name. */
export interface FoundAddresses {
  /** Without repeats, IPv6 first. */
  readonly addresses: readonly string[];
  /** How long they hold: as DNS says; 0 where one family has not answered. */
  readonly lifeMs: number;
}

type Records = readonly { readonly address: string; readonly ttl: number }[];

/**
 * Asks DNS for the addresses of both families of a name, at once and outside the thread pool. No search
 * domain is added. Rejects with what DNS says (`ENOTFOUND`, `ENODATA`, `ETIMEOUT` ...), or with the signal's
 * reason, and then asks no more.
 *
 * @param servers addresses of name servers, with or without a port; none: those of this machine.
 */
export function lookUp(
  host: string,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<FoundAddresses> {
  // One for each name, since a cancel ends all that it runs; it reads this machine's name servers anew.
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return new Promise((resolve, reject) => {
    const found: { ipv6?: Records; ipv4?: Records } = {};
    let stopWaiting = () => {};
    const settle = (finish: () => void) => {
      stopWaiting();
      signal.removeEventListener('abort', onAbort);
      finish();
      resolver.cancel();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    const note = (family: 'ipv6' | 'ipv4', records: Records, failure?: unknown) => {
      found[family] = records.slice(0, MAX_ADDRESSES);
      const { ipv6, ipv4 } = found;
      const all = [...(ipv6 ?? []), ...(ipv4 ?? [])];
      if (ipv6 && ipv4) settle(() => (all.length > 0 ? resolve(answerOf(all)) : reject(failure)));
      else if (all.length > 0) {
        const found = () => settle(() => resolve({ ...answerOf(all), lifeMs: 0 }));
        stopWaiting = afterWaiting(ipv4 ? RESOLUTION_DELAY_MS : IPV4_DELAY_MS, found);
      }
    };
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) return onAbort();
    resolver.resolve6(host, { ttl: true }).then(
      (records) => note('ipv6', records),
      (failure) => note('ipv6', [], failure),
    );
    resolver.resolve4(host, { ttl: true }).then(
      (records) => note('ipv4', records),
      (failure) => note('ipv4', [], failure),
    );
  });
}

/** Whether a text is the address of a name server, with or without a port. */
export function isNameServer(text: string): boolean {
  try {
    new Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}

function answerOf(records: Records): FoundAddresses {
  return {
    addresses: [...new Set(records.map(({ address }) => address))],
    lifeMs: Math.min(...records.map(({ ttl }) => ttl)) * 1000,
  };
}
