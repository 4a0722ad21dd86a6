import * as z from 'zod';
import { CONTESTANT_IDS } from './contestant.ts';

/** What one contestant took once. */
export const measuredSchema = z.object({
  /** Of the table: heap, and what lies outside it. */
  memoryBytes: z.number(),
  /** The same after all look-ups. */
  memoryAfterBytes: z.number(),
  readSeconds: z.number(),
  /** Of all threads. */
  readCpuSeconds: z.number(),
  /** Longest time in which the process could do nothing else while it read. */
  longestPauseMs: z.number(),
  /** CPU time of one look-up, from the text of an address on. */
  v4Us: z.number(),
  v6Us: z.number(),
  /** The same for all who say the same. */
  check: z.string(),
});

export const prefixesLineSchema = measuredSchema.extend({
  bench: z.literal('prefixes'),
  contestant: z.enum(CONTESTANT_IDS),
  repeat: z.number(),
  prefixes: z.number(),
  /** Average load of the machine in the last minute. */
  load: z.number(),
});
export type PrefixesLine = z.infer<typeof prefixesLineSchema>;
