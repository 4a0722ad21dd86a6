import type { ClientReport } from '@longhaul/shared';
import type { TcpInfo } from '../sockets/tcp-info.ts';

/** A leg that was looked at after a shorter time is one that has just begun or ends ... */
const MIN_LOOK_MS = 500;
/** ... and in so many round trips a window that grows would have grown. */
const MIN_ROUNDS = 2;
/** More than the window cannot be on its way: the round trip was another one when the bytes went. */
const MAX_FULL_SHARE = 1.2;
/** A part of the time with something to send; from it on the receiver's window holds the sender back. */
const MIN_RECEIVER_SHARE = 0.1;
/** Of its window so much is on its way in each round trip where the window holds the sender back. */
const MIN_FULL_SHARE = 0.7;
/** A window that differs by less between two looks has stopped growing, and is read from as fast as it fills. */
const STEADY_SHARE = 0.1;
/** Networks that are remembered between two reports. */
const MAX_NETWORKS = 1000;

/** What connections to one network's clients showed of their windows. */
type Windows = Pick<ClientReport, 'windowBytes' | 'leastWindowBytes' | 'mostWindowBytes'>;

/** Looks at one connection to a client. */
export interface WindowMeter {
  readonly look: (info: TcpInfo, nowMs: number) => void;
}

/**
 * How large the receive windows of clients are, by network: the largest that held a connection back, the
 * largest that was offered, and what the scale of the connection can express at most (RFC 7323, section 2.3).
 * Over the short leg from a depot a small window costs little; over the long direct way it is what a download
 * waits for.
 */
export class ClientWindows {
  readonly #byNetwork = new Map<string, Windows>();

  /** Begins to look at a connection to a client in `network`. */
  begin(network: string, first: TcpInfo, startedMs: number): WindowMeter {
    let last = first;
    let lookedMs = startedMs;
    let mostOfferedBytes = first.offeredWindowBytes ?? 0;
    return {
      look: (info, nowMs) => {
        this.#note(network, 'mostWindowBytes', info.mostWindowBytes);
        this.#note(network, 'leastWindowBytes', info.offeredWindowBytes);
        mostOfferedBytes = Math.max(mostOfferedBytes, info.offeredWindowBytes ?? 0);
        const elapsedMs = nowMs - lookedMs;
        if (elapsedMs < Math.max(MIN_LOOK_MS, MIN_ROUNDS * (info.rttMs ?? 0))) return;
        // What is read slowly was larger before it filled.
        const isLargest = (info.offeredWindowBytes ?? 0) >= (1 - STEADY_SHARE) * mostOfferedBytes;
        if (isLargest && isHeldBack(last, info, elapsedMs))
          this.#note(network, 'windowBytes', info.offeredWindowBytes);
        last = info;
        lookedMs = nowMs;
      },
    };
  }

  /** Takes down the scale of a connection that is over at once. */
  noteScale(network: string, { mostWindowBytes }: TcpInfo): void {
    this.#note(network, 'mostWindowBytes', mostWindowBytes);
  }

  /** What was seen since the last call, by network. */
  take(): ReadonlyMap<string, Windows> {
    const taken = new Map(this.#byNetwork);
    this.#byNetwork.clear();
    return taken;
  }

  /** The clients of a network differ: the largest counts. */
  #note(network: string, figure: keyof Windows, bytes: number | undefined): void {
    if (bytes === undefined) return;
    const known = this.#byNetwork.get(network);
    if (known && (known[figure] ?? 0) >= bytes) return;
    const [oldest] = this.#byNetwork.keys();
    if (!known && this.#byNetwork.size >= MAX_NETWORKS && oldest !== undefined)
      this.#byNetwork.delete(oldest);
    this.#byNetwork.set(network, { ...known, [figure]: bytes });
  }
}

/**
 * Whether the same window was offered at both looks, was full all the time between them, and the sender could
 * have sent more.
 */
function isHeldBack(before: TcpInfo, after: TcpInfo, elapsedMs: number): boolean {
  const {
    offeredWindowBytes: offered,
    mostWindowBytes,
    rttMs,
    ackedBytes,
    busyMs,
    receiverLimitedMs,
  } = after;
  const offeredBefore = before.offeredWindowBytes;
  // Of one that may have been made by a SYN cookie nobody knows what it could have offered.
  if (
    !offered ||
    !mostWindowBytes ||
    offeredBefore === undefined ||
    rttMs === undefined ||
    ackedBytes === undefined
  )
    return false;
  const isSteady = Math.abs(offered - offeredBefore) <= STEADY_SHARE * offered;
  const waitedMs = (receiverLimitedMs ?? 0) - (before.receiverLimitedMs ?? 0);
  const hadMoreMs = (busyMs ?? 0) - (before.busyMs ?? 0);
  const inRoundBytes = ((ackedBytes - (before.ackedBytes ?? 0)) * rttMs) / elapsedMs;
  const isFull = inRoundBytes >= MIN_FULL_SHARE * offered && inRoundBytes <= MAX_FULL_SHARE * offered;
  return isSteady && isFull && waitedMs > MIN_RECEIVER_SHARE * hadMoreMs;
}
