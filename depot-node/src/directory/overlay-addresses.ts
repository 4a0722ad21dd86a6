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
  #addresses = new Map<string, readonly string[]>();
  #ownPort = 0;

  /** Takes the listener's own port: it is forbidden on every address of this machine. */
  setOwnPort(port: number): void {
    this.#ownPort = port;
  }

  /** Takes the places that are part of the overlay now. A name that has no address for the moment keeps its last ones. */
  async update(places: readonly Place[], resolve: Resolve): Promise<void> {
    const hosts = [...new Set(places.map(({ host }) => host))];
    const found = await Promise.all(
      hosts.map(
        async (host) => [host, await resolve(host).catch(() => this.#addresses.get(host) ?? [])] as const,
      ),
    );
    this.#addresses = new Map(found);
    this.#known = new Set(
      places.flatMap(({ host, port }) =>
        (this.#addresses.get(host) ?? []).map((address) => placeKey(address, port)),
      ),
    );
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
