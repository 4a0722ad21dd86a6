import * as z from 'zod';
import { CASE_IDS } from './case-id.ts';

/** One run of one party of a case. */
export const caseLineSchema = z.object({
  bench: z.literal('relay-case'),
  case: z.enum(CASE_IDS),
  /** Whose figures these are: a relay, or a way of using it. */
  party: z.string(),
  /** From 1. */
  repeat: z.number().int().positive(),
  /** What was measured; the names have their units. */
  values: z.record(z.string(), z.number()),
  /** The machine's load average over one minute, at the end. */
  load: z.number().nonnegative(),
});

export type CaseLine = z.infer<typeof caseLineSchema>;
