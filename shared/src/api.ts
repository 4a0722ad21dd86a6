/** Shapes of the JSON that clients, depots and masters exchange. Request and answer types are the schemas' own. */
import * as z from 'zod/mini';
import { JOIN_TOKEN_ID, PUBLIC_KEY } from './join-token.ts';
import {
  DEPOT_ID,
  JOB_ID,
  MAX_LANES,
  MAX_LISTED_DEPOTS,
  MAX_TEST_BYTES,
  MAX_TICKET_CHARS,
  NETWORK_PREFIX,
} from './wire/protocol.ts';

const count = z.number().check(z.int(), z.minimum(0));
const rate = z.number().check(z.minimum(0), z.maximum(1));

/** A measured round trip longer than this is a mistake of measuring, or a lie of the other end: a master refuses the report. */
export const MAX_RTT_MS = 60_000;
/** A measured rate above this is one, too: 10 Tbit/s. */
const MAX_GOODPUT_BPS = 10_000_000_000_000;
/** A rate that was measured. Where less than a bit a second comes nothing is measured. */
const measuredBps = z.number().check(z.minimum(1), z.maximum(MAX_GOODPUT_BPS));
/** 100 TB: more than any file that people download. */
const MAX_FILE_BYTES = 100_000_000_000_000;

/** Revoked keys in a directory, and those that a depot remembers: as many as there can be depots. */
export const MAX_REVOKED_KEYS = 1_000;

const depotId = z.string().check(z.regex(DEPOT_ID));
const jobId = z.string().check(z.regex(JOB_ID));
const networkPrefix = z.string().check(z.regex(NETWORK_PREFIX));
const depotIds = z.array(depotId).check(z.maxLength(MAX_LISTED_DEPOTS));
const lanes = z.number().check(z.int(), z.minimum(1), z.maximum(MAX_LANES));
/** A raw Ed25519 public key. */
const publicKey = z.string().check(z.regex(PUBLIC_KEY));
const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]+$/), z.maxLength(256));

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

const legSchema = z.extend(legKnowledgeSchema, {
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
  /** How many times as long as the legs say, since downloads of this pair of client network and origin took so long of late; it is in `seconds`. */
  calibration: z.optional(z.number()),
  /** How long the origin thinks before it answers, as downloads over this chain met it; it is in `seconds` as well. Left out where nobody has told. */
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

/** `POST /v1/depots`: a depot registers its address and key; signed by that key, and under the enrolment secret's MAC. What a newer depot says more is left out. */
export const registerRequestSchema = z.object({
  id: depotId,
  publicKey,
  host: z.string().check(z.maxLength(255)),
  port: z.number().check(z.int(), z.minimum(1), z.maximum(65535)),
  tls: z.boolean(),
});
export type RegisterRequest = z.infer<typeof registerRequestSchema>;

/** `POST /v1/depots/join`: a depot lets its key be known, with a token; signed by that key and by the token's. */
export const joinRequestSchema = z.strictObject({
  id: depotId,
  publicKey,
  /** The site that it stands at. */
  site: depotId,
  /** The id of the token. */
  token: z.string().check(z.regex(JOIN_TOKEN_ID)),
});
export type JoinRequest = z.infer<typeof joinRequestSchema>;

/** `POST /v1/depots/<id>/key`: a depot takes another key; signed by the one before. */
export const newKeyRequestSchema = z.strictObject({
  publicKey,
  /** By the new key, over `newKeyText`. */
  signature: z.string().check(z.regex(/^[A-Za-z0-9_-]{86}$/)),
});
export type NewKeyRequest = z.infer<typeof newKeyRequestSchema>;

/** Answer to both: the key that counts for a depot now. */
export const enrolledAnswerSchema = z.object({ id: depotId, publicKey });
export type EnrolledAnswer = z.infer<typeof enrolledAnswerSchema>;

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
  /** What all connections that were open together got through, where that is more than one of them: the link may carry more. */
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
  /** The largest receive window that held a connection back, the largest that was offered, and the largest that its scale can express. */
  windowBytes: z.optional(count),
  leastWindowBytes: z.optional(count),
  mostWindowBytes: z.optional(count),
});
export type ClientReport = z.infer<typeof clientReportSchema>;

/** Canonical, an IPv6 literal without brackets. */
const originHost = z.string().check(z.regex(/^[a-z0-9.:_-]{1,255}$/));

/** What one origin has shown a depot since its last heartbeat. Of the exit depot, but for what only HTTP tells: that the entry depot knows. */
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
  /** Of single connections since they had lost so often that the start of a CUBIC has worn off: what they brought, and what was lost meanwhile. */
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
/** A job that took longer than this is a mistake of measuring: tickets live for days at most. */
const MAX_JOB_SECONDS = 10_000_000;
/** Finished jobs that one heartbeat tells of. */
export const MAX_JOB_REPORTS = 100;

/** What a leg's sender waited for, most of the time: the peer's window, room in the send buffer, the network, or something to send. */
const legLimitSchema = z.enum(['congestion-window', 'receiver', 'send-buffer', 'idle']);

/** What all connections of a job to one neighbour did together, as the kernel tells. */
const jobLegSchema = z.object({
  /** A depot's id or an end's name. */
  peer: depotId,
  /** Of a client: the /24, or /48 of IPv6, that it came from; its master may know it by an address of the other kind. */
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
const jobDownloadSchema = z.object({
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
  /** Of all that went to its client's address meanwhile, the share of the last one: 1 where nothing ran beside it. Left out by depots that do not count it. */
  ownShare: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
  /** How long its first answer was waited for, once the way stood and the origin was asked: a round trip of the way at most, and the origin's own time. Left out where that is not known. */
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

/** `POST /v1/depots/<id>/heartbeat`, signed by the depot. What a newer depot says more is left out, and costs it nothing. */
export const heartbeatRequestSchema = z.object({
  activeTransfers: count,
  /** Whether these carry bytes, or have just begun; left out by depots that tell only how many there are. */
  isMoving: z.optional(z.boolean()),
  draining: z.boolean(),
  /** What this depot sends towards clients, straight or through others, and can send; left out where its operator has set no bound. */
  uplink: z.optional(
    z.object({
      sentBps: z.number().check(z.minimum(0), z.maximum(MAX_GOODPUT_BPS)),
      mostBps: z.number().check(z.positive(), z.maximum(MAX_GOODPUT_BPS)),
    }),
  ),
  /**
   * Numbers what this process reports, from 1 on: what is told again under its number, because nobody answered, counts once. Of `links`, `clients`,
   * `origins`, `sizes` and `jobs`; left out where there are none of these, and by depots that do not number them.
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
  /** Jobs that have ended since the last heartbeat; left out where there are none. */
  jobs: z.optional(z.array(jobReportSchema).check(z.maxLength(MAX_JOB_REPORTS))),
});
export type HeartbeatRequest = z.infer<typeof heartbeatRequestSchema>;

const depotEntrySchema = z.object({
  id: depotId,
  host: z.string(),
  port: count,
  tls: z.boolean(),
  publicKey,
  /** Where the depot has answered with its key: other depots connect there, and nowhere else. */
  addresses: z.array(z.string()).check(z.minLength(1)),
  state: z.enum(['up', 'draining', 'lost']),
});
export type DepotEntry = z.infer<typeof depotEntrySchema>;

/** A code with its sentence, for the depot's operator. */
const problemSchema = z.object({ code: z.string(), message: z.string() });

/** What the master thinks of the depot that asks. */
const standingSchema = z.object({
  /** `unproved`: it is registered, but has not answered at its address with its key; nobody is sent there. */
  state: z.enum(['up', 'draining', 'unproved']),
  problem: z.optional(problemSchema),
});
export type Standing = z.infer<typeof standingSchema>;

/** `POST /v1/depots/trial`: what would come of a registration, with its body and proofs. Nothing is registered. */
export const trialAnswerSchema = z.object({
  /** Why it would be refused. */
  refusal: z.optional(problemSchema),
  /** Why the address would not count. */
  unproved: z.optional(problemSchema),
});
export type TrialAnswer = z.infer<typeof trialAnswerSchema>;

const masterKeySchema = z.object({ keyId: z.string(), publicKey: base64url });
export type MasterKey = z.infer<typeof masterKeySchema>;

/** Answer to a registration and to every heartbeat: all that a depot has to know of the overlay. */
export const directorySchema = z.object({
  self: standingSchema,
  /** Depots whose addresses are proved. */
  depots: z.array(depotEntrySchema),
  masterKeys: z.array(masterKeySchema),
  /** Public base URLs of the masters, the first one for redirects back. */
  masterUrls: z.array(z.string()).check(z.minLength(1)),
  /** Keys of depots that were revoked, the newest last: whoever has one of them is nobody's neighbour any more. */
  revokedKeys: z.optional(z.array(publicKey).check(z.maxLength(MAX_REVOKED_KEYS))),
  /** To a heartbeat: a link that is hardly known, over which this depot shall fetch so many bytes now. */
  test: z.optional(
    z.object({ from: depotId, bytes: z.number().check(z.int(), z.minimum(1), z.maximum(MAX_TEST_BYTES)) }),
  ),
  /** To a heartbeat: an origin whose distance nobody knows, to which this depot shall open and close a connection now. */
  probe: z.optional(
    z.object({ host: originHost, port: z.number().check(z.int(), z.minimum(1), z.maximum(65535)) }),
  ),
});
export type OriginProbe = NonNullable<z.infer<typeof directorySchema>['probe']>;
export type LinkTest = NonNullable<z.infer<typeof directorySchema>['test']>;
export type Directory = z.infer<typeof directorySchema>;

/** A depot's answer to the question whether it is where it is registered. */
export const challengeAnswerSchema = z.object({
  id: depotId,
  signature: z.string().check(z.regex(/^[A-Za-z0-9_-]{86}$/)),
});
export type ChallengeAnswer = z.infer<typeof challengeAnswerSchema>;

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
      /** What the network carried of one connection, while nothing else held it back; known where the sender has told, as is what limited it. */
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
  /** For the bytes that were delivered, and from the entry depot's point of view; left out where the download cannot be compared. */
  predictedSeconds: z.optional(z.number()),
  /** What direct would have taken by what is known of it; left out where that is not known. */
  directSeconds: z.optional(z.number()),
  legs: z.array(outcomeLegSchema),
});
export type Outcome = z.infer<typeof outcomeSchema>;

export const legsAnswerSchema = z.object({
  jobId: z.string(),
  /** Those that depots have told of, from the client's on; empty while nothing runs. */
  legs: z.array(runningLegSchema),
  /** What came of it, once depots have told. */
  outcome: z.optional(outcomeSchema),
});
export type LegsAnswer = z.infer<typeof legsAnswerSchema>;

/**
 * `POST /v1/depots/<id>/follow-ups`, signed: a ticket of the same job for another URL, which an origin redirects to. With
 * `avoid`, a new plan as well: its chains begin with the asking depot and pass none of those that failed. What a newer depot says more is left out.
 */
export const followUpRequestSchema = z.object({
  ticket: z.string(),
  url: z.string(),
  avoid: z.optional(depotIds),
});
export type FollowUpRequest = z.infer<typeof followUpRequestSchema>;

export const followUpAnswerSchema = z.object({ ticket: z.string() });
export type FollowUpAnswer = z.infer<typeof followUpAnswerSchema>;
