/**
 * The wire protocol of Longhaul: flow, version, caps, headers. The messages stand in the files beside this
 * one.
 *
 * Flow of a download in cascade signalling (the default), with D1 nearest to the client and Dk nearest to the
 * origin:
 *
 *     client -> master   GET /get/https/origin.example/path/file.iso?q
 *     master -> client   307 https://D1/path/file.iso?<ticket>&server=origin.example&port=443&scheme=https&query=q
 *     client -> D1       GET that address; D1 checks the ticket, then builds the chain:
 *     D1 -> D2           CONNECT origin.example:443, with ticket, chain index and proof (`connect.ts`)
 *     D2 -> ... -> Dk    the same message, each with a proof of its own; Dk resolves, checks and dials the origin
 *     Dk -> ... -> D1    200, and from there on bytes that nobody between looks at
 *     D1 <-> origin      HTTP (and TLS) through the tunnel; D1 answers the client with the body
 *
 * Stepwise signalling is the 2009 paper's: the client goes to Dk first (`server=`, `port=`), which fetches at
 * once, and is redirected from depot to depot (`depot=`, `port=`) down to D1. Here for three depots:
 *
 *     client -> D3       GET /path/file.iso?<ticket>&server=origin.example&port=80&scheme=http
 *     D3 -> client       302 http://D2/path/file.iso?<ticket>&depot=d3&port=P3
 *     client -> D2       GET that address
 *     D2 -> D3:P3        GET /path/file.iso?<ticket>, with proof; answered with the file, as soon as it comes
 *     D2 -> client       302 http://D1/path/file.iso?<ticket>&depot=d2&port=P2
 *     client -> D1       GET that address
 *     D1 -> D2:P2        GET /path/file.iso?<ticket>, with proof; answered with the file
 *     D1 -> client       200, the file
 *
 * Version history: 1 - first.
 */

/** Stands in the ticket's type and in everything that depots and masters sign. */
export const PROTOCOL_VERSION = 1;

/**
 * The bytes under a signature: a line that says what they are for, so that they serve for nothing else, and
 * what is signed.
 */
export function signedText(purpose: string, ...lines: readonly (string | number)[]): string {
  return [`longhaul-${purpose}-${PROTOCOL_VERSION}`, ...lines].join('\n');
}

/** A request head (line and headers) larger than this is refused with 431 before anything else. */
export const MAX_HEAD_BYTES = 32 * 1024;
/** A request's body that is longer is not read by a master: a depot's heartbeat tells the rest with the next one. */
export const MAX_BODY_BYTES = 256 * 1024;
/** A ticket longer than this is refused before it is decoded. */
export const MAX_TICKET_CHARS = 1024;
/** Depots in one chain. */
export const MAX_CHAIN_DEPOTS = 4;
/** Alternatives in one ticket beside the plan. */
export const MAX_ALTERNATIVES = 4;
/** Lanes of one download: more parallel connections to one origin would not be polite. */
export const MAX_LANES = 8;
/** Depots that one request may choose or avoid. */
export const MAX_LISTED_DEPOTS = 16;
/**
 * Bytes of a test of a link. Far fast links need some megabytes to leave slow start; a depot has not many of
 * these in an hour.
 */
export const MAX_TEST_BYTES = 4_000_000;
/** How far two clocks may differ, in seconds. */
export const CLOCK_SKEW_SECONDS = 60;

/** Depot ids stand in tickets, URLs, headers and logs, so they are short and plain. */
export const DEPOT_ID = /^[a-z0-9-]{1,10}$/;
export const JOB_ID = /^[A-Za-z0-9_-]{1,16}$/;
/** A client's or an origin's network as it is told: a /24, or /48 of IPv6. */
export const NETWORK_PREFIX = /^[0-9a-f.:]{2,45}\/(?:24|48)$/;

/** Header names of the messages between depots, and of every refusal. */
export const HEADERS = {
  ticket: 'longhaul-ticket',
  chain: 'longhaul-chain',
  proof: 'longhaul-proof',
  /**
   * Told to a caller whose tunnel stands: which proofs are taken beside signatures. Told to a master: how
   * answers are to be proved.
   */
  proofs: 'longhaul-proofs',
  /** Stable error code of a refusal. */
  error: 'longhaul-error',
  /** Id of the depot that refused, or that answers. */
  depot: 'longhaul-depot',
  /**
   * Sent by the add-on with a question for one byte: a failure is to be told, and not to lead to the origin,
   * since it reads nothing of a redirect.
   */
  probe: 'longhaul-probe',
  /** Job id of a download, for support and logs. */
  job: 'longhaul-job',
  /** Signs a depot's requests to its master, and the master's answers to a depot. */
  signature: 'longhaul-signature',
  time: 'longhaul-time',
  /** Orders a depot's requests to its master. */
  sequence: 'longhaul-sequence',
  enrolment: 'longhaul-enrolment',
  /** The canonical origin URL, told by a depot to its successor (stepwise signalling). */
  origin: 'longhaul-origin',
} as const;

/** Whether a download may have so many lanes: 1 to `MAX_LANES`. */
export function isLaneCount(lanes: number): boolean {
  return Number.isInteger(lanes) && lanes >= 1 && lanes <= MAX_LANES;
}
