import * as z from 'zod';

export const plannerLineSchema = z.object({
  bench: z.literal('planner'),
  case: z.string(),
  repeat: z.number(),
  sizeBytes: z.number(),
  /**
   * Of one plan for a client, origin and size that were not asked for before: the least of some, without
   * alternatives, and with them.
   */
  coldMs: z.number(),
  withAlternativesMs: z.number(),
  /** A loop of nothing but logarithms, beside it: other machines, and this one under load, are held against that. */
  yardstickMs: z.number(),
  chain: z.array(z.string()),
  /** Average load of the machine in the last minute. */
  load: z.number(),
});
export type PlannerLine = z.infer<typeof plannerLineSchema>;
