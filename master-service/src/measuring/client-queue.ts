import type { ClientReport } from '@longhaul/shared';
import type * as z from 'zod';
import { figureSchema, later, observed } from '../estimates/figure.ts';
import type { Fact } from '../facts/fact.ts';

/** Who fills a client's line does so for some minutes, or all evening. */
const QUEUE_LIFE_MS = 3_600_000;
/** A queue that was seen once may be over: it counts as this many others say that there is none. */
const NO_QUEUES = 1;

/** What a depot has seen of queues before a network's clients. */
export const queueFigures = {
  /** How long packets wait in those that others fill, and a millisecond: of no wait there is no logarithm. */
  queue: figureSchema.optional(),
} as const;
export type QueueFigures = Readonly<z.output<z.ZodObject<typeof queueFigures>>>;

/**
 * Takes in what a report says of queues; `passedMs` is how long ago the figure was as it is. A shorter wait counts at once: a queue that is believed for too long
 * has chains taken that are slower than the direct way.
 */
export function withQueue(
  known: QueueFigures | undefined,
  { queueMs }: Pick<ClientReport, 'queueMs'>,
  passedMs: number,
): QueueFigures {
  const before = known?.queue;
  if (queueMs === undefined) return before ? { queue: later(before, passedMs) } : {};
  const shortened = before && before.value > 1 + queueMs ? { ...before, value: 1 + queueMs } : before;
  return { queue: observed(shortened, 1 + queueMs, passedMs, QUEUE_LIFE_MS) };
}

/**
 * How long what depots send to a network waits in queues that others fill, in ms: before its line all of them wait. Who waits least counts: what one alone waits
 * for is before its own.
 */
export function queueMsOf(facts: readonly Fact<QueueFigures>[], nowMs: number): number {
  const waits = facts.flatMap(({ value: { queue }, timeMs }) => {
    if (!queue) return [];
    const ageMs = queue.ageMs + Math.max(0, nowMs - timeMs);
    if (ageMs > QUEUE_LIFE_MS) return [];
    const weight = queue.weight * Math.exp(-ageMs / QUEUE_LIFE_MS);
    return [(Math.max(0, queue.value - 1) * weight) / (weight + NO_QUEUES)];
  });
  return waits.length > 0 ? Math.min(...waits) : 0;
}
