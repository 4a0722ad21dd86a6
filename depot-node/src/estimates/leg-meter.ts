import { bpsOf, rateBpsOf } from '@longhaul/shared';
import { hasAnswered, type TcpInfo } from '../sockets/tcp-info.ts';

/** What a leg's sender waited for: the peer's window, room in the send buffer, the network, or something to send. */
export type LegLimit = 'receiver' | 'send-buffer' | 'congestion-window' | 'idle';

/** What went over a connection, and how long its sender waited for what. */
export interface LegCounts {
  readonly sentBytes: number;
  readonly retransmittedBytes: number;
  readonly receivedBytes: number;
  readonly limitedMs: Readonly<Record<LegLimit, number>>;
}

/** What went on between two looks at a connection. */
export interface LegDelta extends LegCounts {
  /** When these were. */
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * The least round trip of late, as the kernel keeps it; only where the other end has answered anything
   * between these two looks.
   */
  readonly minRttMs: number | undefined;
  /**
   * What the network carried of late; only where nothing but the network held the sender back between these
   * two looks. Bits per second.
   */
  readonly recentRateBps: number | undefined;
  /**
   * What it carried at least, where the sender had not met its limit yet, was through, or was held back by its
   * own depot. Bits per second.
   */
  readonly leastRateBps: number | undefined;
  /**
   * What reached the other end, whatever held the sender back; only where these two looks are long enough
   * apart. Bits per second.
   */
  readonly deliveredBps: number | undefined;
  /**
   * What it lost is mostly its own doing: a start that was faster than the way fills the queue there, and
   * what is too much gets lost.
   */
  readonly isOvershot: boolean;
  /** The round trip now, smoothed: longer than the least one where packets wait behind others. */
  readonly rttMs: number | undefined;
  /** The sender had met its limit, and nothing but the network held it back all the while. */
  readonly isHeldByNetwork: boolean;
}

/** What is known of a leg so far; `undefined` where the kernel has not told. */
export interface LegMeasure extends LegCounts {
  readonly seconds: number;
  /** Smoothed round-trip time, and the smallest one. */
  readonly rttMs: number | undefined;
  readonly minRttMs: number | undefined;
  /** Retransmitted of all sent bytes. */
  readonly lossRate: number | undefined;
  /** What the network carried while nothing but the network held the sender back. Bits per second. */
  readonly deliveryRateBps: number | undefined;
  readonly limitedBy: LegLimit | undefined;
  /** How long nothing of what is under way has been acknowledged: a peer that only pauses still answers. */
  readonly unansweredMs: number;
  /** What moved between the last two looks, bits per second. */
  readonly sentBps: number;
  readonly receivedBps: number;
  /** Written and not sent at the last look: the network or the peer is slower than whoever writes. */
  readonly unsentBytes: number | undefined;
}

/** A rate measured over less says more of the first round trips than of the network. */
const MIN_RATE_BYTES = 131_072;
/** A part of the busy time; from it on the rate is the receiver's and not the network's. */
const MAX_RECEIVER_SHARE = 0.1;

/** Acknowledgements come in bursts: over less they say nothing of what a link carries. */
const MIN_DELIVERED_MS = 500;

/** Of the time between two looks, what the network alone holds back waits for it at least so much. */
const HELD_SHARE = 0.9;

/** Ways hardly ever lose so large a part of what is sent; starts do ... */
const OVERSHOT_SHARE = 0.05;
/** ... and send some of it again at the next look. */
const MOST_OVERSHOT_LOOKS = 2;

/** A sender that gets so near to the pace that its depot has set it is held back by that: the rest are headers. */
const PACED_SHARE = 0.9;
/** The kernel rounds a pace. */
const CLEARLY_LESS = 0.99;

/** Of what a recent rate rests on, so much is left at the next look: it is the mean of about three looks. */
const RECENT_SHARE = 0.7;

/**
 * Adds up what the kernel tells of one leg, from a first look at its connection on, which may be older than
 * the leg.
 */
export class LegMeter {
  readonly #startedMs: number;
  readonly #boundBps: number;
  #lookedMs: number;
  #last: TcpInfo;
  #minRttMs: number | undefined;
  #unansweredSinceMs: number | undefined;
  #ratedBytes = 0;
  #rateTimesBytes = 0;
  #sentBps = 0;
  #receivedBps = 0;
  /** Since the last look that said something of a rate. */
  #unrated = { sentBytes: 0, busyMs: 0, receiverMs: 0 };
  /** Looks since it started up, while it loses as starts do; `undefined` when that is over. */
  #looksSinceStart: number | undefined = 0;
  #recentBytes = 0;
  #recentTimesBytes = 0;
  readonly #sums = { sentBytes: 0, retransmittedBytes: 0, receivedBytes: 0 };
  readonly #limitedMs = { receiver: 0, 'send-buffer': 0, 'congestion-window': 0, idle: 0 };

  /** @param boundBps what the configuration lets each such leg be, bits per second. */
  constructor(first: TcpInfo, nowMs: number, boundBps = Number.POSITIVE_INFINITY) {
    this.#startedMs = nowMs;
    this.#boundBps = boundBps;
    this.#lookedMs = nowMs;
    this.#last = first;
    this.#minRttMs = first.minRttMs;
  }

  /** Takes in a later look; gives what happened since the one before. */
  add(info: TcpInfo, nowMs: number): LegDelta {
    const moved = deltaOf(this.#last, info, nowMs - this.#lookedMs);
    const { rateBps, ratedBytes } = this.#rate(info, moved);
    const isAtLeast = info.isStartingUp || !this.#hasKeptSending(info) || this.#isHeldByShare(rateBps, info);
    const delta = {
      ...moved,
      fromMs: this.#lookedMs,
      minRttMs: hasAnswered(this.#last, info) ? info.minRttMs : undefined,
      toMs: nowMs,
      recentRateBps: isAtLeast ? undefined : this.#recent(rateBps, ratedBytes),
      leastRateBps: isAtLeast ? rateBps : undefined,
      isOvershot: this.#overshoots(moved),
      rttMs: info.rttMs,
      isHeldByNetwork:
        !isAtLeast &&
        !info.isAppLimited &&
        moved.limitedMs['congestion-window'] >= HELD_SHARE * (nowMs - this.#lookedMs),
      deliveredBps: deliveredBps(this.#last, info, nowMs - this.#lookedMs),
    };
    const { limitedMs } = delta;
    for (const key of ['sentBytes', 'retransmittedBytes', 'receivedBytes'] as const) {
      this.#sums[key] += delta[key];
    }
    for (const limit of LIMITS) this.#limitedMs[limit] += limitedMs[limit];
    if (info.minRttMs !== undefined)
      this.#minRttMs = Math.min(info.minRttMs, this.#minRttMs ?? info.minRttMs);
    const seconds = (nowMs - this.#lookedMs) / 1000;
    if (seconds > 0) {
      this.#sentBps = rateBpsOf(delta.sentBytes, seconds);
      this.#receivedBps = rateBpsOf(delta.receivedBytes, seconds);
    }
    const isWaiting = (info.unackedSegments ?? 0) > 0;
    this.#unansweredSinceMs = isWaiting ? (this.#unansweredSinceMs ?? nowMs) : undefined;
    this.#last = info;
    this.#lookedMs = nowMs;
    return delta;
  }

  get measure(): LegMeasure {
    const { sentBytes, retransmittedBytes } = this.#sums;
    const elapsedMs = this.#lookedMs - this.#startedMs;
    const waitedMs = this.#unansweredSinceMs === undefined ? 0 : this.#lookedMs - this.#unansweredSinceMs;
    return {
      ...this.#sums,
      limitedMs: { ...this.#limitedMs },
      seconds: elapsedMs / 1000,
      rttMs: this.#last.rttMs,
      minRttMs: this.#minRttMs,
      lossRate: sentBytes > 0 ? Math.min(1, retransmittedBytes / sentBytes) : undefined,
      deliveryRateBps: this.#ratedBytes > 0 ? this.#rateTimesBytes / this.#ratedBytes : undefined,
      limitedBy: elapsedMs > 0 ? this.#largestLimit() : undefined,
      unansweredMs: Math.min(waitedMs, this.#last.sinceAckMs ?? waitedMs),
      sentBps: this.#sentBps,
      receivedBps: this.#receivedBps,
      unsentBytes: this.#last.notSentBytes,
    };
  }

  #overshoots({ sentBytes, retransmittedBytes }: LegCounts): boolean {
    if (this.#looksSinceStart === undefined) return false;
    const isLossy = retransmittedBytes > OVERSHOT_SHARE * sentBytes;
    // Of a sender that has too little to send the kernel takes the start for as long as it lives.
    if (!this.#last.isStartingUp || this.#last.isAppLimited) this.#looksSinceStart += 1;
    const isTooLate = this.#looksSinceStart >= MOST_OVERSHOT_LOOKS;
    if (isTooLate || (!isLossy && this.#looksSinceStart > 0)) this.#looksSinceStart = undefined;
    return isLossy && !isTooLate;
  }

  /**
   * What the connection carried, where neither its sender had too little to send nor its receiver too little
   * room, and over how many bytes.
   */
  #rate(
    { isAppLimited, deliveryRateBps }: TcpInfo,
    { sentBytes, limitedMs }: LegCounts,
  ): { readonly rateBps: number | undefined; readonly ratedBytes: number } {
    const { receiver } = limitedMs;
    const since = this.#unrated;
    since.sentBytes += sentBytes;
    since.busyMs += receiver + limitedMs['send-buffer'] + limitedMs['congestion-window'];
    since.receiverMs += receiver;
    if (since.sentBytes < MIN_RATE_BYTES) return { rateBps: undefined, ratedBytes: 0 };
    this.#unrated = { sentBytes: 0, busyMs: 0, receiverMs: 0 };
    const isHeldBack = isAppLimited || since.receiverMs > since.busyMs * MAX_RECEIVER_SHARE;
    return { rateBps: isHeldBack ? undefined : deliveryRateBps, ratedBytes: since.sentBytes };
  }

  /**
   * Whether its share of the depot's uplink is what made a rate; it may have been another one at the look
   * before. What the configuration lets each leg be is all that the link carries.
   */
  #isHeldByShare(rateBps: number | undefined, { maxPacingBps = Number.POSITIVE_INFINITY }: TcpInfo): boolean {
    const paceBps = Math.min(maxPacingBps, this.#last.maxPacingBps ?? maxPacingBps);
    return (
      rateBps !== undefined && paceBps < CLEARLY_LESS * this.#boundBps && rateBps >= PACED_SHARE * paceBps
    );
  }

  /**
   * Whether something was left to send at both looks. What is acknowledged last, be it for a gap that was filled,
   * comes slower than the network is. And a leg that is fed more slowly than it could send has something left
   * only while a loss is repaired, at whatever rate that takes.
   */
  #hasKeptSending({ notSentBytes }: TcpInfo): boolean {
    return notSentBytes !== 0 && this.#last.notSentBytes !== 0;
  }

  #recent(rateBps: number | undefined, sentBytes: number): number | undefined {
    if (rateBps === undefined) return undefined;
    this.#ratedBytes += sentBytes;
    this.#rateTimesBytes += sentBytes * rateBps;
    this.#recentBytes = RECENT_SHARE * this.#recentBytes + sentBytes;
    this.#recentTimesBytes = RECENT_SHARE * this.#recentTimesBytes + sentBytes * rateBps;
    return this.#recentTimesBytes / this.#recentBytes;
  }

  #largestLimit(): LegLimit {
    return LIMITS.reduce((largest, limit) =>
      this.#limitedMs[limit] > this.#limitedMs[largest] ? limit : largest,
    );
  }
}

/** In the order in which the first of equals counts. */
export const LIMITS = ['congestion-window', 'receiver', 'send-buffer', 'idle'] as const;

/**
 * What arrived between two looks, bits per second. An acknowledgement that closes a gap speaks for bytes that
 * came before, a segment need not be full: the less counts.
 */
function deliveredBps(before: TcpInfo, after: TcpInfo, elapsedMs: number): number | undefined {
  const { ackedBytes, deliveredSegments, mssBytes } = after;
  if (elapsedMs < MIN_DELIVERED_MS || ackedBytes === undefined) return undefined;
  const acked = ackedBytes - (before.ackedBytes ?? 0);
  const arrived =
    deliveredSegments === undefined || mssBytes === undefined
      ? acked
      : (deliveredSegments - (before.deliveredSegments ?? 0)) * mssBytes;
  return bpsOf(Math.max(0, Math.min(acked, arrived)) / elapsedMs);
}

function deltaOf(before: TcpInfo, after: TcpInfo, elapsedMs: number): LegCounts {
  const grown = (one: number | undefined, other: number | undefined) =>
    Math.max(0, (other ?? 0) - (one ?? 0));
  const busyMs = grown(before.busyMs, after.busyMs);
  const receiver = grown(before.receiverLimitedMs, after.receiverLimitedMs);
  const sendBuffer = grown(before.bufferLimitedMs, after.bufferLimitedMs);
  const mssBytes = after.mssBytes ?? 0;
  const bySegments = (one: number | undefined, other: number | undefined) => grown(one, other) * mssBytes;
  return {
    // Linux counts bytes since 4.19, segments since 4.6.
    sentBytes:
      after.sentBytes === undefined
        ? bySegments(before.sentSegments, after.sentSegments)
        : grown(before.sentBytes, after.sentBytes),
    retransmittedBytes:
      after.retransmittedBytes === undefined
        ? bySegments(before.retransmittedSegments, after.retransmittedSegments)
        : grown(before.retransmittedBytes, after.retransmittedBytes),
    receivedBytes: grown(before.receivedBytes, after.receivedBytes),
    limitedMs: {
      receiver,
      'send-buffer': sendBuffer,
      'congestion-window': Math.max(0, busyMs - receiver - sendBuffer),
      idle: Math.max(0, elapsedMs - busyMs),
    },
  };
}
