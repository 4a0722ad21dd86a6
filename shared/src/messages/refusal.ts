/** How every refusal is told to programs. */
import * as z from 'zod/mini';

/** Body of every refusal that answers JSON. */
export const errorAnswerSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    retry: z.boolean(),
    /** Whether the download may succeed for a client that asks the origin itself. */
    direct: z.optional(z.boolean()),
    /** Where the code is explained: an address relative to the master's base address, without `/` in front. */
    help: z.optional(z.string()),
  }),
});
export type ErrorAnswer = z.infer<typeof errorAnswerSchema>;
