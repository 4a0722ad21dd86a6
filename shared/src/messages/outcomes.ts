/** What is told of downloads that run or have ended, to those who may know. */
import * as z from 'zod/mini';
import { MAX_TICKET_CHARS } from '../wire/protocol.ts';
import {
  count,
  depotId,
  jobId,
  lanes,
  legLimitSchema,
  MAX_GOODPUT_BPS,
  MAX_JOB_SECONDS,
  MAX_RTT_MS,
} from './fields.ts';
import { isFileSize, jobDownloadSchema, MAX_NEIGHBOURS } from './heartbeat.ts';

/** What the connections of a job to one neighbour do now, as the kernel tells. */
const neighbourLegSchema = z.object({
  /** A depot's id or an end's name. */
  peer: depotId,
  connections: count,
  rttMs: z.optional(z.number().check(z.minimum(0), z.maximum(MAX_RTT_MS))),
  sentBps: z.number().check(z.minimum(0), z.maximum(MAX_GOODPUT_BPS)),
  receivedBps: z.number().check(z.minimum(0), z.maximum(MAX_GOODPUT_BPS)),
});
export type NeighbourLeg = z.infer<typeof neighbourLegSchema>;

/** A depot's answer to a master's question for the legs of a job. */
export const depotLegsSchema = z.object({
  id: depotId,
  legs: z.array(neighbourLegSchema).check(z.maxLength(MAX_NEIGHBOURS)),
});

/** `POST /v1/legs`: what the legs of a download do now, for whoever holds its ticket. */
export const legsRequestSchema = z.strictObject({ ticket: z.string().check(z.maxLength(MAX_TICKET_CHARS)) });

/** What a client has got of a whole download, from its first request to its last byte. */
const clientMeasureSchema = z.strictObject({
  bytes: z.number().check(z.refine(isFileSize)),
  seconds: z.number().check(z.positive(), z.maximum(MAX_JOB_SECONDS)),
});
export type ClientMeasure = z.infer<typeof clientMeasureSchema>;

/** `POST /v1/feedback`: how a download went, by the client that has its job id. */
export const feedbackRequestSchema = z.strictObject({
  jobId,
  /** `failed` may name the depot where it failed; `prefer-direct` asks for no chain from this origin. */
  verdict: z.enum(['worked', 'slow', 'failed', 'prefer-direct']),
  depot: z.optional(depotId),
  measured: z.optional(clientMeasureSchema),
});
export type FeedbackRequest = z.infer<typeof feedbackRequestSchema>;

/** What comes of it, for the client's network. */
export const feedbackAnswerSchema = z.object({
  jobId: z.string(),
  effect: z.enum(['none', 'avoids-depot', 'goes-direct']),
  depot: z.optional(z.string()),
  /** ISO 8601: until then. */
  until: z.optional(z.string()),
});
export type FeedbackAnswer = z.infer<typeof feedbackAnswerSchema>;

const runningLegSchema = z.object({
  /** Who sends the file on this leg and who receives: depot ids or an end's name. */
  from: z.string(),
  to: z.string(),
  connections: count,
  rttMs: z.optional(z.number()),
  /** What its connections carried together in the last second. */
  goodputBps: z.number(),
});
export type RunningLeg = z.infer<typeof runningLegSchema>;

const outcomeLegSchema = z.object({
  /** Who sends the file on this leg and who receives: depot ids or an end's name. */
  from: z.string(),
  to: z.string(),
  /** Left out for a leg that was not planned. */
  predicted: z.optional(
    z.object({ rttMs: z.number(), goodputBps: z.number(), limit: z.enum(['rate', 'window', 'loss']) }),
  ),
  /** Left out where no depot has told of it. */
  measured: z.optional(
    z.object({
      connections: count,
      bytes: count,
      rttMs: z.optional(z.number()),
      /** Of what was sent, what was sent again; known where the sender has told. */
      lossRate: z.optional(z.number()),
      /** All bytes by the whole time. */
      meanBps: z.number(),
      /**
       * What the network carried of one connection, while nothing else held it back; known where the sender
       * has told, as is what limited it.
       */
      goodputBps: z.optional(z.number()),
      limitedBy: z.optional(legLimitSchema),
      /** Both ends have told, and not the same: the receiver has got less than the sender has sent. */
      isDisputed: z.optional(z.literal(true)),
    }),
  ),
});
export type OutcomeLeg = z.infer<typeof outcomeLegSchema>;

/** What came of a plan, beside what it predicted. */
export const outcomeSchema = z.object({
  /** The chain of the plan, the entry depot first; empty for direct. */
  chain: z.array(z.string()),
  lanes,
  download: z.optional(jobDownloadSchema),
  /** What the client says that it got, of a direct download, too; beside it what was predicted for as many bytes. */
  client: z.optional(z.extend(clientMeasureSchema, { predictedSeconds: z.number() })),
  /**
   * For the bytes that were delivered, and from the entry depot's point of view; left out where the download
   * cannot be compared.
   */
  predictedSeconds: z.optional(z.number()),
  /** What direct would have taken by what is known of it; left out where that is not known. */
  directSeconds: z.optional(z.number()),
  legs: z.array(outcomeLegSchema),
});
export type Outcome = z.infer<typeof outcomeSchema>;

/** Of what a master tells of a job, what its legs do now. */
export const runningLegsSchema = z.object({
  jobId: z.string(),
  /** Those that depots have told of, from the client's on; empty while nothing runs. */
  legs: z.array(runningLegSchema),
});

export const legsAnswerSchema = z.extend(runningLegsSchema, {
  /** What came of it, once depots have told. */
  outcome: z.optional(outcomeSchema),
});
export type LegsAnswer = z.infer<typeof legsAnswerSchema>;
