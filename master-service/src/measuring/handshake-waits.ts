import { LruMap } from '@longhaul/shared/service';

/** Clients whose handshakes are remembered, about a kilobyte each. */
const MOST_CLIENTS = 20_000;
/** A client that has been elsewhere meanwhile is another one ... */
const CLIENT_LIFE_MS = 3_600_000;
/** ... and what was shortest longer ago may have gone over another route. */
const SHORTEST_LIFE_MS = 86_400_000;
/** Who fills a line may have stopped after so long. */
const FRESH_MS = 600_000;
/** Connections that a browser opens at once meet the same queue. */
const APART_MS = 1000;
/** Fewer handshakes, by chance all in a burst, tell nothing of what is usual; more than most are not remembered. */
const HANDSHAKES = { least: 4, most: 9 } as const;
/** A radio link makes a round trip longer by so much, and a long way by such a part of it. */
const JITTER = { ms: 5, share: 0.2 } as const;
/** No usual queue holds more: who answers late on purpose makes a wait of any length. */
const MOST_WAIT_MS = 200;

interface Handshake {
  readonly rttMs: number;
  readonly atMs: number;
}

interface Client {
  readonly shortest: Handshake;
  readonly last: Handshake;
  /** The last ones, the oldest first. */
  readonly handshakes: readonly Handshake[];
}

/**
 * How long handshakes of clients wait in queues that others fill: by how much longer their middle round trip
 * is than the shortest one to the same address. A connection that has sent nothing yet waits for none of its
 * own packets.
 */
export class HandshakeWaits {
  readonly #clients = new LruMap<string, Client>(MOST_CLIENTS);

  /**
   * Takes down the round trip of a handshake with the client at `address`.
   * @returns the shortest one of late; and the usual wait, 0 where there is none, `undefined` where too few
   * handshakes tell.
   */
  note(
    address: string,
    rttMs: number,
    nowMs: number,
  ): { readonly shortestMs: number; readonly waitMs: number | undefined } {
    const now = { rttMs, atMs: nowMs };
    const isWithin = ({ atMs }: Handshake, lifeMs: number) => Math.abs(nowMs - atMs) <= lifeMs;
    const before = this.#clients.get(address);
    const known = before && isWithin(before.last, CLIENT_LIFE_MS) ? before : undefined;
    const fresh = (known?.handshakes ?? []).filter((one) => isWithin(one, FRESH_MS));
    const kept = known && isWithin(known.shortest, SHORTEST_LIFE_MS) ? [known.shortest] : [];
    const shortest = [...kept, ...fresh].reduce((one, other) => (other.rttMs < one.rttMs ? other : one), now);
    const lastFresh = fresh.at(-1);
    const isNews = !lastFresh || Math.abs(nowMs - lastFresh.atMs) >= APART_MS;
    const handshakes = isNews ? [...fresh, now].slice(-HANDSHAKES.most) : fresh;
    this.#clients.set(address, { shortest, last: now, handshakes });
    const isTold = handshakes.length >= HANDSHAKES.least;
    return { shortestMs: shortest.rttMs, waitMs: isTold ? waitOf(handshakes, shortest.rttMs) : undefined };
  }
}

function waitOf(handshakes: readonly Handshake[], shortestMs: number): number {
  const ordered = handshakes.map(({ rttMs }) => rttMs).toSorted((one, other) => one - other);
  const middleMs = ordered[Math.floor((ordered.length - 1) / 2)] ?? shortestMs;
  const waitMs = middleMs - shortestMs - Math.max(JITTER.ms, JITTER.share * shortestMs);
  return Math.min(MOST_WAIT_MS, Math.max(0, waitMs));
}
