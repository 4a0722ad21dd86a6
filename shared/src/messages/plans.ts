/** What clients ask a master to plan, and what it answers. */
import * as z from 'zod/mini';
import { count, depotIds, lanes } from './fields.ts';

/** `POST /v1/plans`: asks for the plan of one download without being redirected. */
export const planRequestSchema = z.strictObject({
  url: z.string().check(z.maxLength(16384)),
  sizeBytes: z.optional(count),
  via: z.optional(depotIds),
  avoid: z.optional(depotIds),
  lanes: z.optional(lanes),
  kind: z.optional(z.enum(['get', 'tunnel'])),
});
export type PlanRequest = z.infer<typeof planRequestSchema>;

/**
 * How a figure is known, the surest first: depots measured it, the operator typed it in, it was put together from the
 * legs of a chain, or nothing is known and an assumption stands in.
 */
const FIGURE_SOURCES = ['measured', 'configured', 'derived', 'assumed'] as const;
const figureSourceSchema = z.enum(FIGURE_SOURCES);
export type FigureSource = z.infer<typeof figureSourceSchema>;

/** The least sure of several sources: what is worked out from all of them is known no better. `assumed` of none. */
export function leastSure(sources: readonly FigureSource[]): FigureSource {
  return FIGURE_SOURCES.findLast((source) => sources.includes(source)) ?? 'assumed';
}

/** What is known of one figure, as a distribution. */
const knownFigureSchema = z.object({
  /** The median, in the figure's unit. */
  value: z.number(),
  /** Standard deviation of the natural logarithm: 0.1 is about 10 %, 0.7 a factor of two, 0 no doubt. */
  spread: z.number(),
  /** Measurements that it rests on, old ones as parts of one. */
  samples: z.number(),
  /** Of the newest one; left out where nothing of it is measured. */
  ageMs: z.optional(z.number()),
  source: figureSourceSchema,
});
export type KnownFigure = z.infer<typeof knownFigureSchema>;

/** What is known of a leg, and by whom. */
const legEvidenceSchema = z.object({
  rttMs: knownFigureSchema,
  lossRate: knownFigureSchema,
  /** Of one connection. */
  goodputBps: knownFigureSchema,
  /** Of several that were open together, where that was more. */
  totalBps: z.optional(z.number()),
  /** The depots that have measured it, its sender first; empty where nobody has. */
  by: z.array(z.string()),
});
export type LegEvidence = z.infer<typeof legEvidenceSchema>;

/** How the two figures of a leg are known. */
const legKnowledgeSchema = z.object({
  rttSource: figureSourceSchema,
  /** Of what the goodput was worked out from: rate, loss and window, or a connection's measured goodput. */
  goodputSource: figureSourceSchema,
  /** Age of the newest measurement; left out where nothing of the leg is measured. */
  measuredAgeMs: z.optional(z.number()),
});
export type LegKnowledge = z.infer<typeof legKnowledgeSchema>;

// Not by `z.extend`, which the add-on would carry for this alone.
const legSchema = z.object({
  ...legKnowledgeSchema.shape,
  /** Who sends on this leg and who receives: depot ids or an end's name. */
  from: z.string(),
  to: z.string(),
  rttMs: z.number(),
  goodputBps: z.number(),
  /** What holds the leg back. */
  limit: z.enum(['rate', 'window', 'loss']),
  /** All that is known of it; left out by masters that do not tell. */
  evidence: z.optional(legEvidenceSchema),
});

const predictionSchema = z.object({
  seconds: z.number(),
  /**
   * How many times as long as the legs say, since downloads of this pair of client network and origin took so
   * long of late; it is in `seconds`.
   */
  calibration: z.optional(z.number()),
  /**
   * How long the origin thinks before it answers, as downloads over this chain met it; it is in `seconds` as
   * well. Left out where nobody has told.
   */
  thoughtSeconds: z.optional(z.number()),
  goodputBps: z.number(),
  setUpSeconds: z.number(),
  legs: z.array(legSchema),
  /** The least sure source among the legs' figures: no more is known of the whole. */
  source: figureSourceSchema,
});

/** Why the decision is what it is; kinds keep their names, while the sentences in `reasons` may change. */
const decisionReasonSchema = z.enum([
  /** A chain is predicted to be clearly faster. */
  'chain-faster',
  /** The request names the chain (`via`). */
  'chain-asked',
  /** Another chain than the best is taken: it may turn out faster, and hardly slower. */
  'to-learn',
  /** The operator has turned chains off (`planner.maxDepots: 0`). */
  'chains-off',
  /** No depot is registered here. */
  'no-depots',
  /** Depots are registered, but none of them is up. */
  'no-depot-up',
  /** The request avoids every depot that is up, or those without which no chain wins. */
  'depots-avoided',
  /** Clients of this network asked for direct downloads from this origin (`POST /v1/feedback`). */
  'direct-preferred',
  /** Depots are up, but the links of no chain are all known. */
  'links-unknown',
  /** By its legs a chain would be clearly faster, but downloads of this network took too long over it, of late. */
  'chain-disappoints',
  /** A chain would be clearly faster for a larger file. */
  'small-file',
  /** No chain is predicted to be clearly faster. */
  'no-gain',
]);
export type DecisionReason = z.infer<typeof decisionReasonSchema>;
/** One that only a newer master tells changes nothing of its plan. */
const anyReasonSchema = z.union([
  decisionReasonSchema,
  z.pipe(
    z.string(),
    z.transform((): DecisionReason => 'no-gain'),
  ),
]);

/** The plan of one download, with what speaks for it. */
export const planAnswerSchema = z.object({
  jobId: z.string(),
  /** The origin URL as people write it. */
  url: z.string(),
  decision: z.enum(['chain', 'direct']),
  decisionReason: anyReasonSchema,
  /** Where the master's redirect leads: the entry depot, or the origin with the direct fragment. */
  location: z.string(),
  /** The link that never expires and plans anew for each request. */
  masterUrl: z.string(),
  /** Depot ids, entry depot first; empty for `direct`. */
  chain: z.array(z.string()),
  alternatives: z.array(z.array(z.string())),
  /** Parallel connections on every leg but the client's; 1 for `direct`. */
  lanes,
  sizeBytes: count,
  /** Whether the request gave the size, a depot saw it, or it is assumed. */
  sizeSource: z.enum(['option', 'reported', 'assumed']),
  /** Whether this master has heard of a depot that fetched the file: else nobody knows whether it exists. */
  fileSeen: z.boolean(),
  prediction: predictionSchema,
  direct: predictionSchema,
  /** Sentences for people. */
  reasons: z.array(z.string()),
  /** Depots that would know how far this client is if it asked for their `/healthz`: base addresses, up to four. */
  toMeet: z.optional(z.array(z.string()).check(z.maxLength(4))),
  /** ISO 8601: when this was answered, by the clock of the times below; left out by masters of before. */
  answeredAt: z.optional(z.string()),
  /** ISO 8601: after this the location starts no new download. */
  startBefore: z.string(),
  /** The ticket as proxy credential; only where the kind `tunnel` was asked for. */
  ticket: z.optional(z.string()),
  /** ISO 8601: until then that ticket opens tunnels at a depot where one began before `startBefore`. */
  ticketEnds: z.optional(z.string()),
});
export type PlanAnswer = z.infer<typeof planAnswerSchema>;
export type LegPrediction = z.infer<typeof legSchema>;
export type Prediction = z.infer<typeof predictionSchema>;
