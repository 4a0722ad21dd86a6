import { type Chain, clientPrefix, isSameChain, type OriginUrl, type TicketKind } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import type { RatedChain } from '../search/rated-chain.ts';

/**
 * Another way must be so many times faster than the one that a client had: measurements differ by as much
 * from one to the next.
 */
const SWITCH_GAIN = 1.05;
/** A client that has not come for so long begins anew. */
const HELD_MS = 600_000;
/** Ways that are remembered, some hundred bytes each. */
const MOST_HELD = 20_000;

/** The way that clients of a network got last to an origin. */
export interface HeldWay {
  /** Empty for direct. */
  readonly chain: Chain;
  /** What was expected of it then, for so many bytes. */
  readonly seconds: number;
  readonly sizeBytes: number;
}

/** Which downloads have one way: of one client network and origin, of about one size. */
export interface WayKey {
  readonly address: string;
  readonly url: OriginUrl;
  readonly kind: TicketKind;
  readonly sizeBytes: number;
}

/** The ways that clients got last, so that estimates that differ by a hair do not lead them to and fro. */
export class HeldWays {
  readonly #ways = new LruMap<string, { readonly way: HeldWay; readonly atMs: number }>(MOST_HELD);

  get(key: WayKey, nowMs: number): HeldWay | undefined {
    const held = this.#ways.get(textOf(key));
    return held && Math.abs(nowMs - held.atMs) < HELD_MS ? held.way : undefined;
  }

  set(key: WayKey, way: HeldWay, nowMs: number): void {
    this.#ways.set(textOf(key), { way, atMs: nowMs });
  }
}

/**
 * The chains in the order in which they are wanted: the one that the client had comes first unless the
 * fastest is clearly faster, or the held one is slower than it was. `ranked` begins with the fastest; `rate`
 * finds a chain that is not in it.
 */
export function heldFirst(
  ranked: readonly RatedChain[],
  held: HeldWay | undefined,
  sizeBytes: number,
  {
    expected,
    rate,
  }: {
    readonly expected: (rated: RatedChain) => number;
    readonly rate: (chain: Chain) => RatedChain | undefined;
  },
): readonly RatedChain[] {
  const [fastest] = ranked;
  if (!held || !fastest || held.chain.length === 0 || isSameChain(fastest.chain, held.chain)) return ranked;
  const rated = ranked.find((one) => isSameChain(one.chain, held.chain)) ?? rate(held.chain);
  if (!rated) return ranked;
  const seconds = expected(rated);
  const gotWorse = held.sizeBytes === sizeBytes && seconds > SWITCH_GAIN * held.seconds;
  if (gotWorse || seconds > SWITCH_GAIN * expected(fastest)) return ranked;
  return [rated, ...ranked.filter((one) => one !== rated)];
}

/**
 * How many times faster than direct a chain must be: one that the client has already is left for direct a
 * little later.
 */
export function leastGain(minimumGain: number, chain: Chain, held: HeldWay | undefined): number {
  const isHeld = held !== undefined && held.chain.length > 0 && isSameChain(held.chain, chain);
  return isHeld ? Math.max(1, minimumGain / SWITCH_GAIN) : minimumGain;
}

/** About one size: the same power of four. */
function textOf({ address, url, kind, sizeBytes }: WayKey): string {
  const { scheme, host, port } = url;
  const size = Math.floor(Math.log2(Math.max(1, sizeBytes)) / 2);
  return `${clientPrefix(address)} ${scheme} ${host}:${port} ${kind} ${size}`;
}
