/** What a depot tells its master now and then: what it measured, and what came of downloads. */
import * as z from 'zod/mini';
import {
  base64url,
  count,
  depotId,
  depotIds,
  jobId,
  legLimitSchema,
  MAX_FILE_BYTES,
  MAX_GOODPUT_BPS,
  MAX_JOB_SECONDS,
  MAX_RTT_MS,
  measuredBps,
  networkPrefix,
  originHost,
  originPort,
  rate,
} from './fields.ts';

/** What a depot measured on the link to another depot since its last heartbeat. It sends, but for the round trip. */
const linkReportSchema = z.object({
  to: depotId,
  rttMs: z.number().check(z.minimum(0), z.maximum(MAX_RTT_MS)),
  /** Of the last 10 MB or more. */
  lossRate: z.optional(rate),
  /** What was sent since, and how much of that was sent again. */
  sentBytes: z.optional(count),
  retransmittedBytes: z.optional(count),
  goodputBps: z.optional(measuredBps),
  /** What was carried before the sender had met a limit: it may be more. */
  leastGoodputBps: z.optional(measuredBps),
  /**
   * What all connections that were open together got through, where that is more than one of them: the link
   * may carry more.
   */
  totalBps: z.optional(measuredBps),
  /** The same while they filled the link: it carries no more. */
  fullBps: z.optional(measuredBps),
});
export type LinkReport = z.infer<typeof linkReportSchema>;

/** What a depot measured towards clients of one network since its last heartbeat, as the sender. */
const clientReportSchema = z.object({
  prefix: networkPrefix,
  rttMs: z.number().check(z.minimum(0), z.maximum(MAX_RTT_MS)),
  /** How long packets waited at least in queues that others fill. */
  queueMs: z.optional(z.number().check(z.minimum(0), z.maximum(MAX_RTT_MS))),
  sentBytes: z.optional(count),
  retransmittedBytes: z.optional(count),
  goodputBps: z.optional(measuredBps),
  /** What was carried before the sender had met a limit: it may be more. */
  leastGoodputBps: z.optional(measuredBps),
  /**
   * The largest receive window that held a connection back, the largest that was offered, and the largest
   * that its scale can express.
   */
  windowBytes: z.optional(count),
  leastWindowBytes: z.optional(count),
  mostWindowBytes: z.optional(count),
});
export type ClientReport = z.infer<typeof clientReportSchema>;

/**
 * What one origin has shown a depot since its last heartbeat. Of the exit depot, but for what only HTTP
 * tells: that the entry depot knows.
 */
const originReportSchema = z.object({
  host: originHost,
  /** The /24 or /48 that it was reached in. */
  prefix: z.optional(networkPrefix),
  rttMs: z.optional(z.number().check(z.minimum(0), z.maximum(MAX_RTT_MS))),
  /** From a request to the first byte of its answer. */
  firstByteMs: z.optional(z.number().check(z.minimum(0), z.maximum(MAX_RTT_MS))),
  /** What was received, and how much of that was lost before, as far as a receiver can tell. */
  receivedBytes: z.optional(count),
  lostBytes: z.optional(count),
  /** Of one connection, while no other one was open. */
  goodputBps: z.optional(measuredBps),
  /** Of several together. */
  totalBps: z.optional(measuredBps),
  /** Of several that filled the way: it carries no more. */
  fullBps: z.optional(measuredBps),
  /** Of so many together that came steadily, none held back by its receiver: more of them may get more. */
  several: z.optional(
    z.object({ goodputBps: measuredBps, connections: z.number().check(z.int(), z.minimum(2)) }),
  ),
  /**
   * Of single connections since they had lost so often that the start of a CUBIC has worn off: what they
   * brought, and what was lost meanwhile.
   */
  worn: z.optional(z.object({ goodputBps: measuredBps, receivedBytes: count, lostBytes: count })),
  /** What held its connections back most of the time; of rates that the receiver held back nothing is told. */
  limit: z.optional(z.enum(['origin', 'network', 'receiver'])),
  takesRanges: z.optional(z.boolean()),
  /** Whether it answers requests that are sent ahead. */
  takesAhead: z.optional(z.boolean()),
});
export type OriginReport = z.infer<typeof originReportSchema>;

/** Whether this is the size of a file that a download can have: nothing is known of empty ones. */
export function isFileSize(sizeBytes: number): boolean {
  return Number.isInteger(sizeBytes) && sizeBytes >= 1 && sizeBytes <= MAX_FILE_BYTES;
}

/** The neighbours of one depot in one job: the client or a depot before it, and depots or the origin behind it. */
export const MAX_NEIGHBOURS = 32;
/** Finished jobs that one heartbeat tells of. */
export const MAX_JOB_REPORTS = 100;

/** What all connections of a job to one neighbour did together, as the kernel tells. */
const jobLegSchema = z.object({
  /** A depot's id or an end's name. */
  peer: depotId,
  /**
   * Of a client: the /24, or /48 of IPv6, that it came from; its master may know it by an address of the
   * other kind.
   */
  prefix: z.optional(networkPrefix),
  connections: count,
  /** What the kernel had sent when the depot had written all: up to one send buffer less than it was given. */
  sentBytes: count,
  /** Of these, what was sent again. */
  retransmittedBytes: count,
  receivedBytes: count,
  /** The least round trip. */
  rttMs: z.optional(z.number().check(z.minimum(0), z.maximum(MAX_RTT_MS))),
  /** What the network carried of one connection, while nothing but the network held it back. */
  goodputBps: z.optional(measuredBps),
  limitedBy: z.optional(legLimitSchema),
});
export type JobLeg = z.infer<typeof jobLegSchema>;

/** The chain that a download began over, and left because it stayed far below its plan. */
const leftChainSchema = z.object({
  /** The entry depot first. */
  chain: depotIds,
  /** What had come over it, in so long from the request on. */
  bytes: count,
  seconds: z.number().check(z.minimum(0), z.maximum(MAX_JOB_SECONDS)),
  /** What came while it was found to be slow, in bits per second: its client had held nothing up then. */
  meanBps: z.number().check(z.minimum(0), z.maximum(MAX_GOODPUT_BPS)),
});
export type LeftChain = z.infer<typeof leftChainSchema>;

/** How downloads of a job ended, by their entry depot. */
export const jobDownloadSchema = z.object({
  /** Downloads of this job that have ended: a client that asks for parts has several. */
  requests: count,
  bodyBytes: count,
  /** From the request to the last byte, of the last one. */
  seconds: z.number().check(z.minimum(0), z.maximum(MAX_JOB_SECONDS)),
  /** Whether it asked for the whole file and got it. */
  isWhole: z.boolean(),
  outcome: z.enum(['complete', 'upstream-broke', 'client-left']),
  /** The depots that it came over in the end, the entry depot first. */
  chain: depotIds,
  /**
   * Of all that went to its client's address meanwhile, the share of the last one: 1 where nothing ran beside
   * it. Left out by depots that do not count it.
   */
  ownShare: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
  /**
   * How long its first answer was waited for, once the way stood and the origin was asked: a round trip of
   * the way at most, and the origin's own time. Left out where that is not known.
   */
  waitedSeconds: z.optional(z.number().check(z.minimum(0), z.maximum(MAX_JOB_SECONDS))),
  /** Left out where it left none. */
  left: z.optional(leftChainSchema),
});
export type JobDownload = z.infer<typeof jobDownloadSchema>;

/** What a depot tells of a job that has ended there, or of what has ended of it. */
export const jobReportSchema = z.object({
  jobId,
  /** How long its connections lasted. */
  seconds: z.number().check(z.minimum(0), z.maximum(MAX_JOB_SECONDS)),
  legs: z.array(jobLegSchema).check(z.maxLength(MAX_NEIGHBOURS)),
  /** Left out by all but the entry depot, and where one byte was asked for. */
  download: z.optional(jobDownloadSchema),
});
export type JobReport = z.infer<typeof jobReportSchema>;

const sizeReportSchema = z.object({
  urlHash: base64url,
  sizeBytes: z.number().check(z.refine(isFileSize)),
  /** Said where no part of it can be asked for: a way that breaks costs everything before. */
  isWholeOnly: z.optional(z.literal(true)),
});
export type SizeReport = z.infer<typeof sizeReportSchema>;

/** Depots that one heartbeat names as not reached: a chain has four neighbours at most, and a depot some chains. */
export const MAX_UNREACHED = 16;

/** A depot counts as lost when it has missed this many heartbeats: one may get lost, two may be late. */
export const LOST_AFTER_HEARTBEATS = 3;

/** Origins of which one heartbeat says whether they were reached; names are long, and the others can wait. */
export const MAX_ORIGINS_TRIED = 8;

/** Whether a depot could connect to an origin when it tried last. */
const originReachSchema = z.object({ host: originHost, port: originPort, isReached: z.boolean() });
export type OriginReach = z.infer<typeof originReachSchema>;

/**
 * `POST /v1/depots/<id>/heartbeat`, signed by the depot. What a newer depot says more is left out, and costs
 * it nothing.
 */
export const heartbeatRequestSchema = z.object({
  activeTransfers: count,
  /** Whether these carry bytes, or have just begun; left out by depots that tell only how many there are. */
  isMoving: z.optional(z.boolean()),
  draining: z.boolean(),
  /**
   * What this depot sends towards clients, straight or through others, and can send; left out where its
   * operator has set no bound.
   */
  uplink: z.optional(
    z.object({
      sentBps: z.number().check(z.minimum(0), z.maximum(MAX_GOODPUT_BPS)),
      mostBps: z.number().check(z.positive(), z.maximum(MAX_GOODPUT_BPS)),
    }),
  ),
  /**
   * Numbers what this process reports, from 1 on: what is told again under its number, because nobody
   * answered, counts once. Of `links`, `clients`, `origins`, `sizes` and `jobs`; left out where there are
   * none of these, and by depots that do not number them.
   */
  batch: z.optional(z.number().check(z.int(), z.minimum(1))),
  links: z.array(linkReportSchema).check(z.maxLength(1000)),
  /** Left out by depots that do not measure them. */
  clients: z.optional(z.array(clientReportSchema).check(z.maxLength(1000))),
  origins: z.optional(z.array(originReportSchema).check(z.maxLength(1000))),
  sizes: z.array(sizeReportSchema).check(z.maxLength(1000)),
  /** The entry group whose tickets it serves; left out where it is in none. */
  entryGroup: z.optional(depotId),
  /** Depots that it could not reach since the last one; left out where there are none. */
  unreached: z.optional(z.array(depotId).check(z.maxLength(MAX_UNREACHED))),
  /** Depots named so before, to which it has made a connection since; left out where there are none. */
  reached: z.optional(z.array(depotId).check(z.maxLength(MAX_UNREACHED))),
  /**
   * Origins that it could not connect to, and those named so before to which it could since; left out where
   * there are none.
   */
  originsTried: z.optional(z.array(originReachSchema).check(z.maxLength(MAX_ORIGINS_TRIED))),
  /** Jobs that have ended since the last heartbeat; left out where there are none. */
  jobs: z.optional(z.array(jobReportSchema).check(z.maxLength(MAX_JOB_REPORTS))),
});
export type HeartbeatRequest = z.infer<typeof heartbeatRequestSchema>;
