import * as z from 'zod';

const amount = z.number().min(0);

/** What sharing the state of an overlay costs, with a report of every link each second. */
export const factsLineSchema = z.object({
  bench: z.literal('facts'),
  depots: z.number(),
  /** Of each depot. */
  links: z.number(),
  repeat: z.number(),
  /**
   * Shares of a core: of who hears all depots and tells of them, of a whole master that is told, and of the
   * NATS server.
   */
  tellingCores: amount,
  toldCores: amount,
  serverCores: amount,
  /** From who tells to who is told. */
  bytesPerSecond: amount,
  /** From when a master that joins late listens to when it knows everything, and what it cost it. */
  joinedMs: amount,
  joinedCpuMs: amount,
  /** Average load of the machine in the last minute. */
  load: z.number(),
});
export type FactsLine = z.infer<typeof factsLineSchema>;
