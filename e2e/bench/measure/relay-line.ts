import * as z from 'zod';
import { RELAY_IDS } from '../relays/relay-id.ts';

/** One run: some flows through one relay, every one a whole body. A relay that does not exist (`direct`) costs 0. */
export const relayLineSchema = z.object({
  bench: z.literal('relay'),
  relay: z.enum(RELAY_IDS),
  flows: z.number().int().positive(),
  /** Of each flow. */
  bodyBytes: z.number().int().positive(),
  /** From 1. */
  repeat: z.number().int().positive(),
  /** Of all threads and children of the relay, by 10^9 bytes of body. */
  cpuSecondsPerGB: z.number().nonnegative(),
  /** Of all flows together, from the first connection on. */
  goodputBps: z.number().nonnegative(),
  /** The most that was seen while the run lasted. */
  rssBytes: z.number().nonnegative(),
  /** The machine's load average over one minute, at the end. */
  load: z.number().nonnegative(),
});

export type RelayLine = z.infer<typeof relayLineSchema>;

/**
 * Flows that were opened and then rested: nobody sends any more (`idle`), or nobody reads (`stalled`), also
 * with caps on the relay's buffers (`capped`).
 */
export const heldLineSchema = z.object({
  bench: z.literal('relay-held'),
  relay: z.enum(RELAY_IDS),
  held: z.enum(['idle', 'stalled', 'capped']),
  flows: z.number().int().positive(),
  /** What the relay's process has grown by, against just before. */
  rssGrowthBytes: z.number(),
  descriptorGrowth: z.number(),
  /** Of the relay while they rested: CPU seconds by seconds. */
  cpuShare: z.number().nonnegative(),
  /** In buffers of the relay's own sockets. */
  socketBytes: z.number().nonnegative(),
  /** What the kernel's memory for TCP has grown by, source, relay and sink together. */
  tcpMemoryGrowthBytes: z.number(),
  load: z.number().nonnegative(),
});

export type HeldLine = z.infer<typeof heldLineSchema>;
