import { bpsOf, domainOf, MAX_RTT_MS, type OriginReport, SEGMENT_BYTES } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import { hasAnswered, type TcpInfo } from '../sockets/tcp-info.ts';
import { LEAST_PART, QUEUED_TIMES } from './filled-way.ts';

/** Fewer bytes between two looks say nothing of a rate. */
const MIN_RATE_BYTES = 131_072;
/** A leg that was looked at after a shorter time is one that has just begun or ends. */
const MIN_RATE_MS = 500;
/** In so many round trips a sender has come to what the way carries, be it a thousand segments in each ... */
const START_ROUNDS = 7;
/** ... and before, a look says something where no more than this part of it is from then. */
const MAX_START_SHARE = 0.5;
/** So long after the last bytes, or a round trip, nothing is on its way any more: the rate before says nothing. */
const STILL_COMING_MS = 200;
/** A part of what an origin brought; where more of it is unsteady, the whole is no rate. */
const MAX_UNSTEADY_SHARE = 0.1;
/**
 * Bytes that wait unread in the kernel while whoever reads keeps up: it is the receiver that holds the others
 * back where more do.
 */
const KEPT_UP_BYTES = 65_536;
/** A round trip is longer than another one only by more than timestamps are exact. */
const EXACT_MS = 3;
/**
 * A connection that has brought less says nothing yet, and takes nothing from others: it waits for its
 * client, who may never come.
 */
const HANDSHAKE_BYTES = 16_384;
/**
 * Of several connections that share a way each has at least this part of the mean: what has less has little
 * to bring.
 */
const LEAST_OF_MEAN = 0.25;
/** Origins that are remembered between two reports, fairly shared by domains. */
const MAX_ORIGINS = 1000;
/**
 * A CUBIC that starts over a lossy way comes to tens of times what that leaves to it, and each round trip
 * with a loss takes three tenths: after so many it has forgotten its start.
 */
const WEARING_ROUNDS = 10;
/**
 * A queue that has just run over has drained in part when it is looked at: the mean round trip of that time
 * is longer by a tenth at least.
 */
const OVERSHOT_TIMES = 1.1;
/** What a start has sent too much is lost at once, and filled in within so many looks ... */
const MOST_FILLING_LOOKS = 2;
/**
 * ... and begins within so many of the shortest round trips: the window doubles in each, of which the last
 * ones are longer.
 */
const OVERSHOOTING_ROUNDS = 16;
/** Segments of an interval that came behind gaps, as a share: more say no more of how many gaps there were. */
const MOST_OUT_OF_ORDER = 0.99;

type Limit = NonNullable<OriginReport['limit']>;

interface Now {
  readonly legs: number;
  readonly bps: number;
  /** Of it, what those brought that did not bring bytes from the look before to this one, or had just started. */
  readonly unsteadyBps: number;
  readonly limit: Exclude<Limit, 'receiver'>;
}

/**
 * What all connections brought between the last two looks, however little each, and of that those that wait
 * in a queue of their way.
 */
interface Together {
  legs: number;
  bps: number;
  queuedBps: number;
  /** The same, however short the look: enough for whose losses they are. */
  waitingBps: number;
  /** What came steadily, and the least that one brought. */
  steadyBps: number;
  leastBps: number;
  /** One was held back by its receiver, though it brought nothing. */
  isHeldBack: boolean;
  /** Of those that did not overshoot. */
  readonly losses: Losses;
}

/** What came, and what of it had been lost before. */
interface Losses {
  receivedBytes: number;
  lostBytes: number;
}

interface Seen {
  readonly network: string | undefined;
  rttMs: number | undefined;
  readonly rttOfNetworks: Map<string | undefined, number>;
  readonly losses: Losses;
  goodputBps: number | undefined;
  totalBps: number | undefined;
  /** The most of several between two looks in which none was held back. */
  several: NonNullable<OriginReport['several']> | undefined;
  /** Of connections that had lost often enough. */
  readonly worn: Losses & { ms: number };
  readonly looks: Record<Limit, number>;
  /**
   * What its connections brought between the last two looks at all, but for those whose receivers held them
   * back: they say nothing of others.
   */
  now: Now | undefined;
  together: Together;
  /**
   * Between looks in which several filled the way: sums. And the most that came between others, which it
   * carried then.
   */
  readonly full: { bps: number; looks: number; readonly losses: Losses };
  notFullBps: number;
  /** One was held back by its receiver meanwhile. */
  isHeldBack: boolean;
}

/** Looks at one connection that an origin sends on. */
export interface OriginMeter {
  readonly look: (info: TcpInfo, unreadBytes: number | undefined, nowMs: number) => void;
  readonly end: () => void;
}

/**
 * What connections from origins show their receiver, by host. Losses are known by the segments that come
 * behind a gap: with w segments in a round trip each loss makes w of them, as far as gaps do not overlap, so
 * that a share f behind gaps stands for -ln(1 - f) / w. What a start loses that has filled the queue, and
 * what several lose that fill the way, says nothing of what the way loses by itself, and does not count.
 */
export class OriginEstimates {
  readonly #byHost = new FairMap<Seen>(MAX_ORIGINS);
  /** Connections that are open now, and have brought more than a handshake. */
  readonly #open = new Map<string, number>();

  /** Begins to look at a connection to `host`, whose address is in `network`. */
  begin(host: string, network: string | undefined, first: TcpInfo, startedMs: number): OriginMeter {
    let last = first;
    let lookedMs = startedMs;
    let isCounted = false;
    /** When the first bytes came at the earliest: a connection that is made ahead waits for its request. */
    let beganMs = startedMs;
    let wasFlowing = false;
    let roundsWithLoss = 0;
    const start = new Start();
    return {
      look: (info, unreadBytes, nowMs) => {
        const seen = this.#seen(host, network);
        if (!isCounted && (info.receivedBytes ?? 0) - (first.receivedBytes ?? 0) > HANDSHAKE_BYTES) {
          isCounted = true;
          beganMs = lookedMs;
          this.#open.set(host, (this.#open.get(host) ?? 0) + 1);
        }
        const startMs = START_ROUNDS * (info.minRttMs ?? info.rttMs ?? 0) - (lookedMs - beganMs);
        const isStarting = startMs > MAX_START_SHARE * (nowMs - lookedMs);
        const isFlowingOn = wasFlowing && isFlowing(info);
        const isSteady = isFlowingOn && !isStarting;
        const elapsedMs = nowMs - lookedMs;
        const isFirst = last === first;
        const flow = { isFlowingOn, isSteady };
        const came = noteLook(seen, { network, isFirst, last, info, unreadBytes, elapsedMs, ...flow });
        const shortestMs = seen.rttOfNetworks.get(network);
        const isQueued = [last, info].some((each) => waits(each, shortestMs, OVERSHOT_TIMES));
        const mayOvershoot =
          isQueued && lookedMs - beganMs <= OVERSHOOTING_ROUNDS * (info.minRttMs ?? info.rttMs ?? 0);
        const isOvershot = start.overshoots(came, { isQueued, mayOvershoot });
        if (!isOvershot) addTo(seen.together.losses, came, LOSSES);
        if (roundsWithLoss >= WEARING_ROUNDS && isSteady && (unreadBytes ?? 0) <= KEPT_UP_BYTES)
          addTo(seen.worn, { ...came, ms: elapsedMs }, [...LOSSES, 'ms']);
        const rounds = elapsedMs / Math.max(1, info.minRttMs ?? info.rttMs ?? 0);
        roundsWithLoss += Math.min(rounds, came.lostBytes / SEGMENT_BYTES);
        wasFlowing = isFlowing(info);
        last = info;
        lookedMs = nowMs;
      },
      end: () => {
        if (!isCounted) return;
        const left = (this.#open.get(host) ?? 1) - 1;
        if (left > 0) this.#open.set(host, left);
        else this.#open.delete(host);
      },
    };
  }

  /** Ends a look at all connections: only now it is known which of them had their origin for themselves. */
  endLook(): void {
    for (const [host, seen] of this.#byHost) {
      const { now, isHeldBack } = seen;
      noteTogether(seen);
      seen.now = undefined;
      seen.isHeldBack = false;
      if (!now && isHeldBack) seen.looks.receiver += 1;
      if (!now || now.unsteadyBps > MAX_UNSTEADY_SHARE * now.bps) continue;
      seen.looks[now.limit] += 1;
      if (now.legs > 1) seen.totalBps = Math.max(now.bps, seen.totalBps ?? 0);
      // One that has just ended is open no more.
      else if ((this.#open.get(host) ?? 0) <= 1) seen.goodputBps = Math.max(now.bps, seen.goodputBps ?? 0);
    }
  }

  /** What was seen since the last call. */
  take(): OriginReport[] {
    // What has ended since the last look of all is told as well.
    for (const [, seen] of this.#byHost) noteLosses(seen);
    const reports = [...this.#byHost].flatMap(([host, seen]) => reportOf(host, seen) ?? []);
    this.#byHost.clear();
    return reports;
  }

  #seen(host: string, network: string | undefined): Seen {
    const known = this.#byHost.get(host);
    if (known) return known;
    const seen: Seen = {
      network,
      rttMs: undefined,
      rttOfNetworks: new Map(),
      losses: { ...NO_LOSSES },
      goodputBps: undefined,
      totalBps: undefined,
      several: undefined,
      worn: { ...NO_LOSSES, ms: 0 },
      looks: { origin: 0, network: 0, receiver: 0 },
      now: undefined,
      together: noneTogether(),
      full: { bps: 0, looks: 0, losses: { ...NO_LOSSES } },
      notFullBps: 0,
      isHeldBack: false,
    };
    this.#byHost.set(host, seen, domainOf(host));
    return seen;
  }
}

interface Look {
  readonly network: string | undefined;
  /** What its making told of the round trip was not noted before. */
  readonly isFirst: boolean;
  readonly last: TcpInfo;
  readonly info: TcpInfo;
  readonly unreadBytes: number | undefined;
  readonly elapsedMs: number;
  /** Bytes came at both ends of it. */
  readonly isFlowingOn: boolean;
  /** The same, and its sender has not just started. */
  readonly isSteady: boolean;
}

const LOSSES = ['receivedBytes', 'lostBytes'] as const;
const NO_LOSSES: Readonly<Losses> = { receivedBytes: 0, lostBytes: 0 };
const noneTogether = (): Together => ({
  legs: 0,
  bps: 0,
  queuedBps: 0,
  waitingBps: 0,
  steadyBps: 0,
  leastBps: Number.POSITIVE_INFINITY,
  isHeldBack: false,
  losses: { ...NO_LOSSES },
});
const NOTHING: Now = { legs: 0, bps: 0, unsteadyBps: 0, limit: 'origin' };

/** Gives what came, and what had been lost of it before. */
function noteLook(
  seen: Seen,
  { network, isFirst, last, info, unreadBytes, elapsedMs, isFlowingOn, isSteady }: Look,
): Readonly<Losses> {
  const { minRttMs = info.rttMs } = info;
  const isNew = isFirst || hasAnswered(last, info);
  if (isNew && minRttMs !== undefined) {
    seen.rttMs = Math.min(minRttMs, seen.rttMs ?? minRttMs);
    // An origin may have several addresses, one nearer than the other.
    seen.rttOfNetworks.set(network, Math.min(minRttMs, seen.rttOfNetworks.get(network) ?? minRttMs));
  }
  const grown = (one: number | undefined, other: number | undefined) =>
    Math.max(0, (other ?? 0) - (one ?? 0));
  const bytes = grown(last.receivedBytes, info.receivedBytes);
  const segments = grown(last.receivedSegments, info.receivedSegments);
  const outOfOrder = grown(last.outOfOrderSegments, info.outOfOrderSegments);
  let lostBytes = 0;
  if (minRttMs !== undefined && segments > 0 && elapsedMs > 0) {
    const perRound = Math.max(1, (segments * Math.min(minRttMs, elapsedMs)) / elapsedMs);
    const share = Math.min(MOST_OUT_OF_ORDER, outOfOrder / segments);
    lostBytes = Math.min(bytes, (bytes * -Math.log1p(-share)) / perRound);
  }
  const came = { receivedBytes: bytes, lostBytes };
  const { together } = seen;
  const isHeldBack = (unreadBytes ?? 0) > KEPT_UP_BYTES;
  if (isHeldBack) together.isHeldBack = true;
  if (bytes === 0) return came;
  const legBps = (bytes * 8 * 1000) / Math.max(elapsedMs, MIN_RATE_MS);
  const isWholeLook = isSteady && elapsedMs >= MIN_RATE_MS;
  const shortestMs = seen.rttOfNetworks.get(network);
  const isQueued = waits(info, shortestMs);
  // Who waits at both ends of a look has filled the way meanwhile, be it by a start.
  const isQueuedOn = isFlowingOn && waits(last, shortestMs) && elapsedMs >= MIN_RATE_MS;
  together.legs += 1;
  together.bps += legBps;
  together.leastBps = Math.min(legBps, together.leastBps);
  if (isWholeLook) together.steadyBps += legBps;
  if (isQueued && !isHeldBack) together.waitingBps += legBps;
  if (isQueued && (isWholeLook || isQueuedOn) && !isHeldBack) together.queuedBps += legBps;
  if (bytes < MIN_RATE_BYTES) return came;
  if (isHeldBack) {
    seen.isHeldBack = true;
    return came;
  }
  const { legs, bps, unsteadyBps, limit } = seen.now ?? NOTHING;
  seen.now = {
    legs: legs + 1,
    bps: bps + legBps,
    unsteadyBps: unsteadyBps + (isWholeLook ? 0 : legBps),
    // Of several connections the one that says least of the origin decides.
    limit: outOfOrder > 0 ? 'network' : limit,
  };
  return came;
}

/** Whether what comes has waited on its way, so that its round trip is so many times the shortest one. */
function waits(
  { receiverRttMs = 0 }: TcpInfo,
  shortestMs = Number.POSITIVE_INFINITY,
  times = QUEUED_TIMES,
): boolean {
  return receiverRttMs > Math.max(times * shortestMs, shortestMs + EXACT_MS);
}

/** Looks at what a connection loses by its start. */
class Start {
  /** With losses of it; `undefined` when it is over. */
  #looks: number | undefined = 0;

  /**
   * Whether what was lost is mostly the sender's own doing: its start has filled the queue, or what that lost
   * is filled in.
   */
  overshoots(
    { lostBytes }: Readonly<Losses>,
    { isQueued, mayOvershoot }: { readonly isQueued: boolean; readonly mayOvershoot: boolean },
  ): boolean {
    if (this.#looks === undefined || (lostBytes === 0 && this.#looks === 0)) return false;
    const goesOn = this.#looks > 0 ? isQueued && this.#looks < MOST_FILLING_LOOKS : mayOvershoot;
    const isOvershot = lostBytes > 0 && goesOn;
    this.#looks = isOvershot ? this.#looks + 1 : undefined;
    return isOvershot;
  }
}

/** One that is alone says nothing of what others would get beside it: it may share its way with strangers. */
function noteTogether(seen: Seen): void {
  const { legs, bps, queuedBps } = seen.together;
  noteLosses(seen);
  if (isOfSeveral(seen.together) && bps > (seen.several?.goodputBps ?? 0))
    seen.several = { goodputBps: bps, connections: legs };
  seen.together = noneTogether();
  if (legs > 1 && queuedBps >= (1 - LEAST_PART) * bps) {
    seen.full.bps += bps;
    seen.full.looks += 1;
  } else seen.notFullBps = Math.max(bps, seen.notFullBps);
}

/** Whether what came is what several had that shared it, and none of them could have taken more. */
function isOfSeveral({ legs, bps, steadyBps, leastBps, isHeldBack }: Together): boolean {
  const isSteady = steadyBps >= (1 - MAX_UNSTEADY_SHARE) * bps;
  return legs > 1 && !isHeldBack && isSteady && leastBps >= (LEAST_OF_MEAN * bps) / legs;
}

/** Whose losses they are: those of several that fill the way are their own. */
function noteLosses({ together: { legs, bps, waitingBps, losses }, full, ...seen }: Seen): void {
  const isFull = legs > 1 && waitingBps >= (1 - LEAST_PART) * bps;
  addTo(isFull ? full.losses : seen.losses, losses, LOSSES);
}

function addTo<Key extends string>(
  sum: Record<Key, number>,
  more: Readonly<Record<Key, number>>,
  keys: readonly Key[],
): void {
  for (const key of keys) sum[key] += more[key];
}

function isFlowing({ sinceDataMs = 0, rttMs = 0, receiverRttMs = 0 }: TcpInfo): boolean {
  return sinceDataMs <= Math.max(STILL_COMING_MS, rttMs, receiverRttMs);
}

function reportOf(host: string, seen: Seen): OriginReport | undefined {
  const { network, rttMs, goodputBps, totalBps, several, worn, looks, full, notFullBps } = seen;
  if (rttMs === undefined || rttMs > MAX_RTT_MS) return undefined;
  const limit = mostSeen(looks);
  const fullBps = full.looks > 0 ? full.bps / full.looks : 0;
  const isFullKnown = fullBps > 0 && fullBps >= (1 - LEAST_PART) * notFullBps;
  const losses = { ...seen.losses };
  if (!isFullKnown) addTo(losses, full.losses, LOSSES);
  const { receivedBytes, lostBytes } = losses;
  return {
    host,
    ...(network === undefined ? {} : { prefix: network }),
    rttMs,
    ...(receivedBytes > 0 ? { receivedBytes, lostBytes: Math.round(lostBytes) } : {}),
    ...(goodputBps === undefined ? {} : { goodputBps }),
    ...(totalBps === undefined ? {} : { totalBps }),
    ...(isFullKnown ? { fullBps } : {}),
    ...(several === undefined ? {} : { several }),
    ...(worn.receivedBytes < MIN_RATE_BYTES ? {} : { worn: wornReport(worn) }),
    ...(limit === undefined ? {} : { limit }),
  };
}

function wornReport({ receivedBytes, lostBytes, ms }: Seen['worn']): NonNullable<OriginReport['worn']> {
  return { goodputBps: bpsOf(receivedBytes / ms), receivedBytes, lostBytes: Math.round(lostBytes) };
}

/**
 * What held connections back most often; the receiver only where nothing else did, since that tells nothing
 * of the origin.
 */
function mostSeen({ origin, network, receiver }: Seen['looks']): Limit | undefined {
  if (origin + network > 0) return origin > network ? 'origin' : 'network';
  return receiver > 0 ? 'receiver' : undefined;
}
