import * as z from 'zod';

const amount = z.number().min(0);

/** What came of asking at a rate, or as fast as answers come. */
const floodSchema = z.object({
  /** Requests whose turn came. */
  wanted: amount,
  /** Answers within the time. */
  answered: amount,
  /** Answers altogether: led to a depot, to the origin, or refused by a code. */
  chain: amount,
  direct: amount,
  refused: amount,
  seconds: amount,
  /** From a request's turn to its answer. */
  p50Ms: amount,
  p99Ms: amount,
});
export type Flood = z.infer<typeof floodSchema>;

export const overloadLineSchema = z.object({
  bench: z.literal('overload'),
  /** Of those who ask more than the master can. */
  connections: z.number(),
  repeat: z.number(),
  /** Plans that a core makes in a second, by CPU time, when nobody waits. */
  capacity: amount,
  /** At twice that. */
  flood: floodSchema,
  /** Meanwhile, from a client network that asks for little. */
  bystander: floodSchema,
  /** Average load of the machine in the last minute. */
  load: z.number(),
});
export type OverloadLine = z.infer<typeof overloadLineSchema>;
