import { networkInterfaces } from 'node:os';
import { plainAddress } from '@longhaul/shared';
import type { Resolve } from '../sockets/resolver.ts';

interface Place {
  readonly host: string;
  readonly port: number;
}

/** The overlay's own addresses and ports, which no download may be fetched from: it would run in circles. */
export class OverlayAddresses {
  #known = new Set<string>();
  #ownPort = 0;

  /** Takes the listener's own port: it is forbidden on every address of this machine. */
  setOwnPort(port: number): void {
    this.#ownPort = port;
  }

  /** Replaces the known places; names are resolved once, now. A name without an address keeps nothing out. */
  async update(places: readonly Place[], resolve: Resolve): Promise<void> {
    const known = await Promise.all(
      places.map(async ({ host, port }) => {
        const addresses = await resolve(host).catch(() => []);
        return addresses.map((address) => placeKey(address, port));
      }),
    );
    this.#known = new Set(known.flat());
  }

  includes(address: string, port: number): boolean {
    return this.#known.has(placeKey(address, port)) || (port === this.#ownPort && isOwnAddress(address));
  }
}

/** Host and port of a base URL. */
export function placeOfUrl(url: string): Place {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

function placeKey(address: string, port: number): string {
  return `${plainAddress(address)} ${port}`;
}

function isOwnAddress(address: string): boolean {
  const plain = plainAddress(address);
  if (plain.startsWith('127.') || plain === '::1') return true;
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => entry.address === plain),
  );
}
