import type { ClientReport } from '@longhaul/shared';
import type * as z from 'zod';
import { figureSchema, later, observed } from '../estimates/figure.ts';
import { lossEvidenceSchema, withSent } from '../estimates/loss-evidence.ts';
import type { Fact } from '../facts/fact.ts';
import { siteOf } from './measured-by.ts';

/** Who fills a client's line does so for some minutes, or all evening. */
const QUEUE_LIFE_MS = 3_600_000;
/** Handshakes tell of their own minutes: of a client's other downloads, too, which end. */
const HANDSHAKE_LIFE_MS = 600_000;
/**
 * A queue that was seen once may be over: it counts as this many others say that there is none. Handshakes
 * were looked at several times.
 */
const NO_QUEUES = { bySent: 1, byHandshakes: 0.1 } as const;
/** Handshakes wait so long, beside what a radio link makes of them, where others fill a line for most of the time. */
export const FILLED_MS = 5;
/** A line is not full over which so much was sent of late, of which no more was lost, or no more than two segments. */
const CLEAN = { sentBytes: 10_000_000, lossRate: 1e-4, lostBytes: 3000 } as const;

/** What a depot has seen of queues before a network's clients. */
export const queueFigures = {
  /** How long packets wait in those that others fill, and a millisecond: of no wait there is no logarithm. */
  queue: figureSchema.optional(),
  /** What was sent within as long as handshakes tell of, and lost. */
  sent: lossEvidenceSchema.optional(),
} as const;
export type QueueFigures = Readonly<z.output<z.ZodObject<typeof queueFigures>>>;

/**
 * Takes in what a report says of queues; `passedMs` is how long ago the figure was as it is. A shorter wait
 * counts at once: a queue that is believed for too long has chains taken that are slower than the direct way.
 */
export function withQueue(
  known: QueueFigures | undefined,
  { queueMs, sentBytes = 0, retransmittedBytes = 0 }: ReportedQueue,
  passedMs: number,
): QueueFigures {
  const before = known?.queue;
  const news = { sentBytes, lostBytes: retransmittedBytes };
  const sent =
    known?.sent || sentBytes > 0 ? { sent: withSent(known?.sent, news, passedMs, HANDSHAKE_LIFE_MS) } : {};
  if (queueMs === undefined) return before ? { ...sent, queue: later(before, passedMs) } : sent;
  const shortened = before && before.value > 1 + queueMs ? { ...before, value: 1 + queueMs } : before;
  return { ...sent, queue: observed(shortened, 1 + queueMs, passedMs, QUEUE_LIFE_MS) };
}

type ReportedQueue = Pick<ClientReport, 'queueMs' | 'sentBytes' | 'retransmittedBytes'>;

/** What waits before the line of a network's clients. */
export interface ClientQueue {
  /** How long, in ms. */
  readonly queueMs: number;
  /** How long handshakes do. */
  readonly handshakeMs: number;
  /** Whether others fill it for most of the time: who begins to send finds it full. */
  readonly isFilled: boolean;
}

export const NO_QUEUE: ClientQueue = { queueMs: 0, handshakeMs: 0, isFilled: false };

/** Who has measured, and what. */
type Told = readonly [by: string, fact: Fact<QueueFigures>];

/**
 * What waits before a network's line, by what depots send over it, and by handshakes with masters, which wait
 * for nothing of their own connection. The latter count where no depot has sent without losses: the clients
 * of one address may be as many, near and far.
 */
export function queueOf(told: readonly Told[], nowMs: number): ClientQueue {
  const isOfMaster = ([by]: Told) => siteOf(by) !== undefined;
  const byDepots = told.filter((one) => !isOfMaster(one));
  const isClean = byDepots.some(([, fact]) => hasSentCleanly(fact, nowMs));
  const sentMs = leastWait(byDepots, QUEUE_LIFE_MS, NO_QUEUES.bySent, nowMs);
  const handshakeMs = isClean
    ? 0
    : leastWait(told.filter(isOfMaster), HANDSHAKE_LIFE_MS, NO_QUEUES.byHandshakes, nowMs);
  return { queueMs: Math.max(sentMs, handshakeMs), handshakeMs, isFilled: handshakeMs >= FILLED_MS };
}

/**
 * Before a line all of those wait who send over it. Who waits least counts: what one alone waits for is
 * before its own.
 */
function leastWait(told: readonly Told[], lifeMs: number, noQueues: number, nowMs: number): number {
  const waits = told.flatMap(([, fact]) => {
    const { queue } = fact.value;
    if (!queue) return [];
    const ageMs = queue.ageMs + Math.max(0, nowMs - fact.timeMs);
    if (ageMs > lifeMs) return [];
    const weight = queue.weight * Math.exp(-ageMs / QUEUE_LIFE_MS);
    return [(Math.max(0, queue.value - 1) * weight) / (weight + noQueues)];
  });
  return waits.length > 0 ? Math.min(...waits) : 0;
}

function hasSentCleanly({ value: { sent }, timeMs }: Fact<QueueFigures>, nowMs: number): boolean {
  if (!sent) return false;
  const left = Math.exp(-(sent.ageMs + Math.max(0, nowMs - timeMs)) / HANDSHAKE_LIFE_MS);
  const mostLostBytes = Math.max(CLEAN.lostBytes, CLEAN.lossRate * sent.sentBytes);
  return left * sent.sentBytes >= CLEAN.sentBytes && sent.lostBytes <= mostLostBytes;
}
