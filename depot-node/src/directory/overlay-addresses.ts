import { networkInterfaces } from 'node:os';
import { type Authority, plainAddress } from '@longhaul/shared';
import type { Resolve } from '../names/resolver.ts';

/**
 * How long the addresses of a name are believed; each heartbeat would be work for the resolver that downloads
 * wait for.
 */
const NAME_LIFE_MS = 60_000;

/** A new name is waited for so long: the next heartbeat must not come late because DNS does. */
const PATIENCE_MS = 2_000;

/** How long this machine's addresses are believed: each connection to an origin asks for them. */
const OWN_LIFE_MS = 1_000;

interface Resolved {
  readonly addresses: readonly string[];
  readonly atMs: number;
}

/** The overlay's own addresses and ports, which no download may be fetched from: it would run in circles. */
export class OverlayAddresses {
  readonly #resolve: Resolve;
  readonly #nowMs: () => number;
  #known = new Set<string>();
  #addresses = new Set<string>();
  #hosts = new Map<string, Resolved>();
  #ownPort = 0;
  #own: Resolved = { addresses: [], atMs: Number.NEGATIVE_INFINITY };

  constructor(resolve: Resolve, nowMs: () => number) {
    this.#resolve = resolve;
    this.#nowMs = nowMs;
  }

  /** Takes the listener's own port: it is forbidden on every address of this machine. */
  setOwnPort(port: number): void {
    this.#ownPort = port;
  }

  /**
   * Takes the places that are part of the overlay now. A name that has no address for the moment keeps its
   * last ones.
   */
  async update(places: readonly Authority[]): Promise<void> {
    const hosts = [...new Set(places.map(({ host }) => host))];
    this.#hosts = new Map(
      await Promise.all(hosts.map(async (host) => [host, await this.#lookUp(host)] as const)),
    );
    this.#addresses = new Set([...this.#hosts.values()].flatMap((host) => host.addresses.map(plainAddress)));
    this.#known = new Set(
      places.flatMap(({ host, port }) =>
        (this.#hosts.get(host)?.addresses ?? []).map((address) => placeKey(address, port)),
      ),
    );
  }

  async #lookUp(host: string): Promise<Resolved> {
    const last = this.#hosts.get(host);
    const atMs = this.#nowMs();
    if (last && Math.abs(atMs - last.atMs) < NAME_LIFE_MS) return last;
    const options = { signal: AbortSignal.timeout(PATIENCE_MS), forWhom: 'overlay' } as const;
    const addresses = await this.#resolve(host, options).catch(() => undefined);
    return addresses ? { addresses, atMs } : (last ?? { addresses: [], atMs: Number.NEGATIVE_INFINITY });
  }

  /** Whether a depot or master is at this address, on whatever port. */
  isOf(address: string): boolean {
    return this.#addresses.has(plainAddress(address));
  }

  /** Whether a depot or master is at this address and port, or this depot itself. */
  includes(address: string, port: number): boolean {
    return this.#known.has(placeKey(address, port)) || (port === this.#ownPort && this.isOwn(address));
  }

  /** Whether an address is one of this machine. */
  isOwn(address: string): boolean {
    const plain = plainAddress(address);
    if (plain.startsWith('127.') || plain === '::1') return true;
    const atMs = this.#nowMs();
    if (Math.abs(atMs - this.#own.atMs) >= OWN_LIFE_MS) this.#own = { addresses: ownAddresses(), atMs };
    return this.#own.addresses.includes(plain);
  }
}

function placeKey(address: string, port: number): string {
  return `${plainAddress(address)} ${port}`;
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(
    (entries) => entries?.map((entry) => entry.address) ?? [],
  );
}
