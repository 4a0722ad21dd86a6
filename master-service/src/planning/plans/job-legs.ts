import {
  type Chain,
  CLIENT,
  isEnd,
  type LegsAnswer,
  type NeighbourLeg,
  ORIGIN,
  type Outcome,
  ok,
  type Result,
  type RunningLeg,
} from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import type { TicketIssuer } from '../../tickets/ticket-issuer.ts';

/** Depots are asked for one job at most so often, however many look. */
const SAME_ANSWER_MS = 1_000;
/** Jobs that are looked at, at once. */
const MOST_JOBS = 1_000;

interface JobLegsInit {
  readonly tickets: Pick<TicketIssuer, 'read'>;
  readonly ask: (depot: string, jobId: string) => Promise<readonly NeighbourLeg[] | undefined>;
  /** What came of a job, once depots have told. */
  readonly outcomeOf?: (jobId: string) => Outcome | undefined;
  readonly now: () => number;
}

interface Kept {
  readonly askedAtMs: number;
  readonly answer: Promise<LegsAnswer>;
}

/**
 * What the legs of downloads do now and what came of those that have ended, told to whoever holds the ticket;
 * nobody is asked while nobody looks.
 */
export class JobLegs {
  readonly #init: JobLegsInit;
  readonly #kept = new LruMap<string, Kept>(MOST_JOBS);

  constructor(init: JobLegsInit) {
    this.#init = init;
  }

  /** Refuses tickets that are no master's, or not alive. */
  async of(ticket: string): Promise<Result<LegsAnswer>> {
    const { tickets, now } = this.#init;
    const nowMs = now();
    const claims = tickets.read(ticket, Math.floor(nowMs / 1000));
    if (!claims.ok) return claims;
    const { jobId, chains } = claims.value;
    const kept = this.#kept.get(jobId);
    if (kept && Math.abs(nowMs - kept.askedAtMs) < SAME_ANSWER_MS) return ok(await kept.answer);
    const answer = this.#ask(jobId, chains);
    this.#kept.set(jobId, { askedAtMs: nowMs, answer });
    return ok(await answer);
  }

  async #ask(jobId: string, chains: readonly Chain[]): Promise<LegsAnswer> {
    const depots = [...new Set(chains.flat())];
    const told = await Promise.all(
      depots.map(async (depot) => [depot, await this.#init.ask(depot, jobId)] as const),
    );
    const legs = legsOf(new Map(told.map(([depot, ofDepot]) => [depot, ofDepot ?? []])), chains);
    const outcome = this.#init.outcomeOf?.(jobId);
    return { jobId, legs, ...(outcome ? { outcome } : {}) };
  }
}

/**
 * The legs between depots, the client and the origin, from the client's on. Who sends on one tells of it,
 * where both ends do: its round-trip times are those of the file's packets.
 */
function legsOf(told: ReadonlyMap<string, readonly NeighbourLeg[]>, chains: readonly Chain[]): RunningLeg[] {
  const byEnds = new Map<string, RunningLeg>();
  for (const [depot, legs] of told) {
    for (const leg of legs) {
      const { peer, connections, rttMs, sentBps, receivedBps } = leg;
      const sends = isSender(depot, leg, chains);
      const [from, to] = sends ? [depot, peer] : [peer, depot];
      const ends = `${from} ${to}`;
      if (!sends && byEnds.has(ends)) continue;
      const goodputBps = sends ? sentBps : receivedBps;
      const known = rttMs === undefined ? {} : { rttMs };
      byEnds.set(ends, { from, to, connections, ...known, goodputBps });
    }
  }
  const places = [CLIENT, ...told.keys(), ORIGIN];
  return [...byEnds.values()].toSorted((one, other) => places.indexOf(one.to) - places.indexOf(other.to));
}

/** Whether a depot sends the file to a neighbour: by what goes over the leg, and by the chains while nothing does. */
function isSender(
  depot: string,
  { peer, sentBps, receivedBps }: NeighbourLeg,
  chains: readonly Chain[],
): boolean {
  if (isEnd(peer)) return peer === CLIENT;
  if (sentBps !== receivedBps) return sentBps > receivedBps;
  return chains.some((chain) => chain.indexOf(peer) === chain.indexOf(depot) - 1 && chain.includes(peer));
}
