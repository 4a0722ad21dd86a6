import * as z from 'zod';

/** What happens to the nearest site, and within which time the next one has to answer. */
export const EVENTS = {
  silence: { label: 'the site falls silent', targetMs: 300 },
  death: { label: 'its master is killed', targetMs: 1000 },
  drain: { label: 'its master is asked to end', targetMs: 1000 },
} as const;
export type AnycastEvent = keyof typeof EVENTS;
export const EVENT_NAMES = Object.keys(EVENTS) as readonly AnycastEvent[];

/** One event, or a time of full load in which none happened. */
export const anycastLineSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('event'),
    event: z.enum(EVENT_NAMES),
    /** From 1 on. */
    repeat: z.number(),
    /** From the event to the end of the next site's first answer to a question that was asked after it. */
    switchMs: z.number(),
    /** Questions asked after the event that had no answer, and those on their way when it happened. */
    failedAfter: z.number(),
    failedBefore: z.number(),
    /** From the end of the event to the first answer of the nearest site. */
    backMs: z.number(),
  }),
  z.object({
    kind: z.literal('load'),
    seconds: z.number(),
    /** Answered by the nearest site's master. */
    redirects: z.number(),
    /** For each time that the address was withdrawn although nothing had happened, what the master had answered. */
    withdrawals: z.array(z.string()),
    /** Questions of the client that another site has answered, and those without an answer. */
    answeredElsewhere: z.number(),
    failed: z.number(),
  }),
]);
export type AnycastLine = z.infer<typeof anycastLineSchema>;
