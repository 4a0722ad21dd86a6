import * as z from 'zod';

export const redirectLineSchema = z.object({
  bench: z.literal('redirect'),
  case: z.string(),
  contestant: z.string(),
  repeat: z.number(),
  requests: z.number(),
  /** CPU time of the server's process, by the kernel, for each request. */
  cpuUs: z.number(),
  /** Average load of the machine in the last minute. */
  load: z.number(),
});
export type RedirectLine = z.infer<typeof redirectLineSchema>;
