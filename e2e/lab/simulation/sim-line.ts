import * as z from 'zod';

/** What a simulated master goes by. */
export const KNOWLEDGE = {
  none: 'a fresh overlay: nothing typed, nothing measured',
  typed: 'links as they were at the beginning, typed in once',
  reported: 'the same, and what depots report of the links between them, a tenth of them lies',
  measured:
    'nothing typed: what depots measure of links, of the clients and origins of chains, and of origins that they probe; how far clients are from the masters of the sites that they ask; and what downloads took. A tenth of the depots lies of all that, and a hundredth of the client networks calls each depot that it was led over broken, and each origin better directly',
  honest: 'the same, and nobody lies',
  informed:
    'links as they are: those of both ends at the moment of each plan, those between depots once an hour',
} as const;
export type Knowledge = keyof typeof KNOWLEDGE;
export const KNOWLEDGE_IDS = Object.keys(KNOWLEDGE) as readonly Knowledge[];

/** What becomes of a master in the middle of a run. */
export const RESTARTS = {
  keep: 'it is killed and started again with what it had written down',
  forget: 'it is killed and started again without',
  none: 'nothing',
} as const;
export type Restart = keyof typeof RESTARTS;
export const RESTART_IDS = Object.keys(RESTARTS) as readonly Restart[];

/** How origins send: `held` ones give each connection a part of what they could. */
export const ORIGIN_SENDS = ['cubic', 'bbr', 'reno', 'held'] as const;
export type OriginSends = (typeof ORIGIN_SENDS)[number];

const about = {
  simulation: z.literal('map'),
  /** What the whole run is of. */
  world: z.object({
    depots: z.number(),
    prefixes: z.number(),
    origins: z.number(),
    downloads: z.number(),
    hours: z.number(),
    restart: z.enum(RESTART_IDS),
    /** Where depots and origins stand; left out: as usual. */
    shape: z
      .object({ contentPercent: z.number(), localPercent: z.number(), depotCities: z.number() })
      .optional(),
  }),
  knowledge: z.enum(KNOWLEDGE_IDS),
  /** From 0 on. */
  window: z.number(),
  fromHours: z.number(),
  toHours: z.number(),
  carriedBytes: z.number(),
  /** Bytes spent on nothing but measuring. */
  measuringBytes: z.number(),
  /** The simulated master's, at the end of the window. */
  residentBytes: z.number(),
  /** Of the simulated master, in this window. */
  cpuSeconds: z.number(),
  /** Of the master that was ended before this window; left out where none was. */
  restart: z
    .object({
      /** From its start until it plans again. */
      readySeconds: z.number(),
      /** What it knew again, and lines of its file that said nothing of use. */
      facts: z.number(),
      refused: z.number(),
      fileBytes: z.number(),
      /** How long it took to write that. */
      saveSeconds: z.number(),
    })
    .optional(),
};

const toldLineSchema = z.object({
  ...about,
  /** Of clients that do not lie. */
  downloads: z.number().positive(),
  /** Time of the plan over time of the best way, less 1. */
  regret: z.object({ mean: z.number(), median: z.number(), p90: z.number(), worst: z.number() }),
  /** Mean regret by how the origin sends; 0 where there was none. */
  byOrigin: z.record(z.enum(ORIGIN_SENDS), z.number()),
  /** Time of the best way over time of the plan, in the mean. */
  score: z.number(),
  /** The same for who always goes directly. */
  directScore: z.number(),
  /** Share of downloads that were sent over a chain, and that would best have been. */
  chainShare: z.number(),
  bestChainShare: z.number(),
  /** |ln(time / predicted)|, in the median. */
  predictionError: z.number(),
  planMs: z.object({ median: z.number(), worst: z.number() }),
});
/** A window in which somebody downloaded who does not lie. */
export type ToldLine = z.infer<typeof toldLineSchema>;

/** Some downloads in a row under one knowledge; without figures where all their clients lie. */
export const simLineSchema = z.union([toldLineSchema, z.object({ ...about, downloads: z.literal(0) })]);
export type SimLine = z.infer<typeof simLineSchema>;

/** Whether it has figures. */
export function isTold(line: SimLine): line is ToldLine {
  return line.downloads > 0;
}
