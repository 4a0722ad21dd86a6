import { isEnd, type JobLeg, type JobReport } from '@longhaul/shared';
import { FairRoom, LruMap, OrderedMap } from '@longhaul/shared/service';

/** Both ends are heard by then, with all that has ended of a job. */
const JUDGED_AFTER_MS = 30_000;
/** What one neighbour says of another counts for so long. */
const VERDICT_LIFE_MS = 3_600_000;
/** Who goes on telling of a job waits no longer. */
const JUDGED_AT_LAST_MS = 600_000;
/**
 * Legs that wait to be judged; of these one depot that tells has no more than it leaves free. What does not
 * fit is judged by nobody.
 */
const MOST_WAITING = 20_000;
/** Depots of which verdicts are kept, and neighbours of each. */
const MOST_DEPOTS = 2_000;
const MOST_NEIGHBOURS = 200;
/** One neighbour that says otherwise may be the one that lies, and two may be its friends. */
const LEAST_NEIGHBOURS = 3;
/** What has come may be so much less than what was sent: a whole window was on its way when a client left. */
const UNDER_WAY = { share: 0.1, bytes: 16_777_216 };

/** A leg that waits until both ends must have told all. */
interface Waiting {
  /** Who has told first. */
  readonly by: string;
  readonly sinceMs: number;
  readonly toldAtMs: number;
}

/** What the two ends of a leg have told of it. */
type Verdict = 'agree' | 'disagree';

/** When the ends of the legs to and from a neighbour agreed last, and when they did not: by who sent. */
type Neighbour = Record<
  'sent' | 'received',
  { readonly verdict: Verdict; readonly atMs: number } | undefined
>;

interface DisputeBookInit {
  readonly reportOf: (jobId: string, depot: string) => JobReport | undefined;
  /** Called when a depot is trusted no more, or again. */
  readonly onChange?: (depot: string, isTrusted: boolean) => void;
  /**
   * Milliseconds by a clock that is never set, of the master that judges: masters learn of reports in another
   * order than they were told.
   */
  readonly steadyMs: () => number;
}

/**
 * Holds what depots say they have sent against what their neighbours have got. Who disagrees with three
 * neighbours at least, and with most of those that both ends have told of, is not believed.
 */
export class DisputeBook {
  readonly #init: DisputeBookInit;
  /** Those that nobody has told of for longest come first. */
  readonly #waiting = new OrderedMap<string, Waiting>();
  readonly #room = new FairRoom(MOST_WAITING);
  readonly #neighbours = new LruMap<string, Map<string, Neighbour>>(MOST_DEPOTS);
  readonly #distrusted = new Set<string>();

  constructor(init: DisputeBookInit) {
    this.#init = init;
  }

  /** Takes note of a report, and judges those whose other end must have told by now. */
  note(depot: string, { jobId, legs }: JobReport): void {
    const nowMs = this.#init.steadyMs();
    for (const { peer } of legs) {
      if (isEnd(peer)) continue;
      const [one, other] = depot < peer ? [depot, peer] : [peer, depot];
      const key = `${jobId} ${one} ${other}`;
      const before = this.#waiting.get(key);
      if (!before && !this.#room.take(depot, 1)) continue;
      const { by, sinceMs } = before ?? { by: depot, sinceMs: nowMs };
      if (nowMs - sinceMs < JUDGED_AT_LAST_MS) this.#waiting.setLast(key, { by, sinceMs, toldAtMs: nowMs });
    }
    this.#judgeDue(nowMs);
  }

  isTrusted(depot: string): boolean {
    // Verdicts grow old.
    if (this.#distrusted.has(depot)) this.#weigh(depot, this.#init.steadyMs());
    return !this.#distrusted.has(depot);
  }

  #judgeDue(nowMs: number): void {
    for (const [key, { by, toldAtMs }] of this.#waiting) {
      if (nowMs - toldAtMs < JUDGED_AFTER_MS) return;
      this.#waiting.delete(key);
      this.#room.giveBack(by, 1);
      const [jobId = '', one = '', other = ''] = key.split(' ');
      const [ofOne, ofOther] = [this.#legOf(jobId, one, other), this.#legOf(jobId, other, one)];
      if (!ofOne || !ofOther) continue;
      const isSentByOne = ofOne.sentBytes > ofOne.receivedBytes || ofOther.receivedBytes > ofOther.sentBytes;
      const isLess = isSentByOne ? hasLess(ofOther, ofOne) : hasLess(ofOne, ofOther);
      const known = { verdict: isLess ? 'disagree' : 'agree', atMs: nowMs } as const;
      this.#keep(one, other, isSentByOne ? 'sent' : 'received', known);
      this.#keep(other, one, isSentByOne ? 'received' : 'sent', known);
      this.#weigh(one, nowMs);
      this.#weigh(other, nowMs);
    }
  }

  #legOf(jobId: string, depot: string, peer: string): JobLeg | undefined {
    return this.#init.reportOf(jobId, depot)?.legs.find((leg) => leg.peer === peer);
  }

  #keep(depot: string, other: string, way: keyof Neighbour, known: NonNullable<Neighbour['sent']>): void {
    const neighbours = this.#neighbours.get(depot) ?? new Map<string, Neighbour>();
    this.#neighbours.set(depot, neighbours);
    const { sent, received } = neighbours.get(other) ?? { sent: undefined, received: undefined };
    neighbours.delete(other);
    neighbours.set(other, { sent, received, [way]: known });
    const [oldest] = neighbours.keys();
    if (neighbours.size > MOST_NEIGHBOURS && oldest !== undefined) neighbours.delete(oldest);
  }

  #weigh(depot: string, nowMs: number): void {
    let [disputed, judged] = [0, 0];
    for (const [other, { sent, received }] of this.#neighbours.get(depot) ?? []) {
      const alive = [sent, received].filter((one) => one && nowMs - one.atMs < VERDICT_LIFE_MS);
      // Who is not believed says nothing of others.
      if (alive.length === 0 || this.#distrusted.has(other)) continue;
      judged += 1;
      disputed += Number(alive.some((one) => one?.verdict === 'disagree'));
    }
    const isTrusted = disputed < LEAST_NEIGHBOURS || 2 * disputed <= judged;
    if (isTrusted === !this.#distrusted.has(depot)) return;
    if (isTrusted) this.#distrusted.delete(depot);
    else this.#distrusted.add(depot);
    this.#init.onChange?.(depot, isTrusted);
  }
}

/** Whether a receiver has got clearly less than a sender says. */
export function hasLess(
  { receivedBytes }: Pick<JobLeg, 'receivedBytes'>,
  { sentBytes, retransmittedBytes }: Pick<JobLeg, 'sentBytes' | 'retransmittedBytes'>,
): boolean {
  return receivedBytes < (1 - UNDER_WAY.share) * (sentBytes - retransmittedBytes) - UNDER_WAY.bytes;
}
