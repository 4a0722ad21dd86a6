import * as z from 'zod';

/** What happens to the masters, in the order in which it happens. */
export const EVENTS = {
  nats: { label: 'a NATS server is killed', end: 'it starts again' },
  death: { label: 'a master is killed', end: 'it starts again' },
  partition: { label: 'a site is cut off from the others', end: 'the cut heals' },
  cut: { label: 'two sites are cut off from each other, both hear the third', end: 'the cut heals' },
  forward: { label: 'a master’s clock jumps 6 hours ahead', end: 'it is set right' },
  back: { label: 'a master’s clock jumps 6 hours back', end: 'it is set right' },
} as const;
export type MastersEvent = keyof typeof EVENTS;
export const EVENT_NAMES = Object.keys(EVENTS) as readonly MastersEvent[];

/** Downloads of one kind, each file compared with the origin’s. */
const filesSchema = z.object({
  files: z.number(),
  whole: z.number(),
  /** The longest time without a new byte in any of them. */
  pauseMs: z.number(),
  /** Why those failed that did: each reason once. */
  failures: z.array(z.string()),
});

/** Questions for redirects of one kind. */
const questionsSchema = z.object({
  asked: z.number(),
  /** Without an answer, or refused. */
  failed: z.number(),
  /** Led to the origin, not to a depot. */
  toOrigin: z.number(),
  /** Why those failed that did: each reason once. */
  failures: z.array(z.string()),
});

/** One event with its end, or one master that joined late. */
export const mastersLineSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('event'),
    event: z.enum(EVENT_NAMES),
    /** From 1 on. */
    repeat: z.number(),
    /**
     * From the event until all masters that can know it know of a heartbeat of every depot after it; null
     * where they cannot, or did not in time.
     */
    rightMs: z.number().nullable(),
    /** The same from the end of the event, for all masters. */
    backMs: z.number().nullable(),
    /**
     * What was asked of the master, or the site, that the event is about, from the event to its end; a dead
     * one is not asked.
     */
    there: questionsSchema,
    /** What was asked of the other masters. */
    elsewhere: questionsSchema,
    /**
     * Downloads that ran when it happened and whose chain it does not touch, those whose chain it cuts, and
     * those that began before its end.
     */
    running: filesSchema,
    broken: filesSchema,
    begun: filesSchema,
  }),
  z.object({
    kind: z.literal('join'),
    repeat: z.number(),
    depots: z.number(),
    /** Of each depot. */
    links: z.number(),
    /** From when it listens until it says that it knows what the others do. */
    joinedMs: z.number(),
    /** What it holds then. */
    knownDepots: z.number(),
    knownLinks: z.number(),
    elsewhere: questionsSchema,
    running: filesSchema,
  }),
]);
export type MastersLine = z.infer<typeof mastersLineSchema>;
export type EventLine = Extract<MastersLine, { kind: 'event' }>;
export type JoinLine = Extract<MastersLine, { kind: 'join' }>;
export type Files = z.infer<typeof filesSchema>;
export type Questions = z.infer<typeof questionsSchema>;
