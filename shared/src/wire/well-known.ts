/** Messages at well-known addresses of depots, most of them a master's, which signs what it says or asks. */
import {
  type Authority,
  canonicalHost,
  formatAuthority,
  type OriginUrl,
  parsePort,
  parseScheme,
} from '../origin-url.ts';
import { ok, type Result, refuse } from '../result.ts';
import {
  DEPOT_ID,
  JOB_ID,
  MAX_TEST_BYTES,
  MAX_TICKET_CHARS,
  NETWORK_PREFIX,
  PROTOCOL_VERSION,
  signedText,
} from './protocol.ts';
import { depotBaseUrl, looksLikeTicket } from './relay-target.ts';
import { itemsOfWord, type MasterWord, WellKnownTarget, WORD_ITEMS, wordOf } from './well-known-target.ts';

// --- Proof of an address: master -> depot ----------------------------------------------------------------------
//
//     GET /.well-known/longhaul-depot?challenge=<32 random bytes, base64url> HTTP/1.1
//
//     Longhaul-Signature: <Unix time in ms> <key id> <base64url>
//
// The answer is `200` with `{"id", "signature"}`, to whoever asks. A depot's address counts once the depot
// has answered there with the key that it is registered with. The header is a master's word that it asks:
// masters wait for no stranger.

const CHALLENGE = new WellKnownTarget('/.well-known/longhaul-depot', { challenge: /^[A-Za-z0-9_-]{43}$/ });

/** Whether a raw request target is that of a challenge, well-formed or not. */
export const isChallengeTarget = CHALLENGE.matches;

/** The request target that asks a depot to prove where it is. */
export function formatChallengeTarget(challenge: string): string {
  return CHALLENGE.format({ challenge });
}

export function parseChallengeTarget(rawTarget: string): Result<string> {
  const items = CHALLENGE.parse(rawTarget);
  return items ? ok(items.challenge) : refuse('bad-request', 'no challenge');
}

/** What `Longhaul-Signature` says beside a challenge. */
export function formatChallengeWord({ timeMs, keyId, signature }: MasterWord): string {
  return `${timeMs} ${keyId} ${signature}`;
}

/** Reads what `Longhaul-Signature` says beside a challenge; `undefined` where that is no master's word. */
export function parseChallengeWord(text: string): MasterWord | undefined {
  const [, time, keyId, signature] =
    /^([0-9]{1,15}) ([A-Za-z0-9_-]{1,64}) ([A-Za-z0-9_-]{86})$/.exec(text) ?? [];
  return time && keyId && signature ? { timeMs: Number(time), keyId, signature } : undefined;
}

/** The bytes under a master's word with a challenge, for the depot that it is sent to. */
export function challengeText(depot: string, challenge: string, timeMs: number): string {
  return signedText('challenge', depot, challenge, timeMs);
}

/** The bytes that a depot signs to prove that it is where it is registered; they serve for nothing else. */
export function addressProofText(
  id: string,
  place: Authority & { readonly tls: boolean },
  challenge: string,
): string {
  return signedText('address', id, depotBaseUrl(place), challenge);
}

// --- Notice of a plan: master -> depot -------------------------------------------------------------------------
//
// GET /.well-known/longhaul-notice?next=<depot id>&time=<Unix time in ms>&key=<key id>&signature=<base64url>
// HTTP/1.1
//
// `204`: a client is about to come with a ticket by whose plan this depot needs a connection to `next`. The
// depot may open it ahead. Nothing depends on a notice: a depot that does not know them answers otherwise,
// and is told none for a while.

const NOTICE = new WellKnownTarget('/.well-known/longhaul-notice', { next: DEPOT_ID, ...WORD_ITEMS });

/** A master's word that a depot will need a connection to the next one of a chain. */
export interface PlanNotice extends MasterWord {
  /** Id of the depot to connect to. */
  readonly next: string;
}

/** Whether a raw request target is that of a notice, well-formed or not. */
export const isNoticeTarget = NOTICE.matches;

export function formatNoticeTarget({ next, ...word }: PlanNotice): string {
  return NOTICE.format({ next, ...itemsOfWord(word) });
}

export function parseNoticeTarget(rawTarget: string): Result<PlanNotice> {
  const items = NOTICE.parse(rawTarget);
  return items ? ok({ next: items.next, ...wordOf(items) }) : refuse('bad-request', 'no notice');
}

/** The bytes under a notice's signature, for the depot that it is sent to. */
export function noticeText(depot: string, { next, timeMs }: Pick<PlanNotice, 'next' | 'timeMs'>): string {
  return signedText('notice', depot, next, timeMs);
}

// --- Notice of a way: master -> entry depot --------------------------------------------------------------------
//
// GET /.well-known/longhaul-way?ticket=<ticket>&server=S&port=P&scheme=...&client=<network>&time=<Unix time
// in ms>&key=<key id>&signature=<base64url> HTTP/1.1
//
// `204`: a client of this network (/24, or /48 of IPv6) is about to come with this ticket. The depot may make
// the way to the origin ahead: the tunnel, and the handshake with an origin over https; no request. It names
// origin and client, and holds a ticket: a master sends it over TLS only to who proves to be the depot by its
// certificate. Nothing depends on it, as on a notice of a plan.

const SOMETHING = /^[^&]+$/;
const WAY = new WellKnownTarget('/.well-known/longhaul-way', {
  ticket: SOMETHING,
  server: SOMETHING,
  port: SOMETHING,
  scheme: SOMETHING,
  client: NETWORK_PREFIX,
  ...WORD_ITEMS,
});

/** Where an origin is, and how it is spoken to. */
export type OriginPlace = Pick<OriginUrl, 'scheme' | 'host' | 'port'>;

/** A master's word that a client is about to come with a ticket. */
export interface WayNotice extends MasterWord {
  readonly ticket: string;
  readonly origin: OriginPlace;
  /** The client's network. */
  readonly client: string;
}

/** Whether a raw request target is that of a notice of a way, well-formed or not. */
export const isWayTarget = WAY.matches;

export function formatWayTarget({ ticket, origin, client, ...word }: WayNotice): string {
  const { host, port, scheme } = origin;
  return WAY.format({ ticket, server: host, port: String(port), scheme, client, ...itemsOfWord(word) });
}

export function parseWayTarget(rawTarget: string): Result<WayNotice> {
  const items = WAY.parse(rawTarget);
  if (!items || !looksLikeTicket(items.ticket) || items.ticket.length > MAX_TICKET_CHARS)
    return refuse('bad-request', 'no notice of a way');
  const host = canonicalHost(items.server);
  const port = parsePort(items.port);
  const scheme = parseScheme(items.scheme);
  if (!host.ok || !port.ok || !scheme.ok) return refuse('bad-request', 'the notice of a way names no origin');
  const origin = { host: host.value, port: port.value, scheme: scheme.value };
  return ok({ ticket: items.ticket, origin, client: items.client, ...wordOf(items) });
}

/** The bytes under a notice of a way's signature, for the depot that it is sent to. */
export function wayText(depot: string, notice: Omit<WayNotice, 'keyId' | 'signature'>): string {
  const { ticket, origin, client, timeMs } = notice;
  const authority = formatAuthority(origin.host, origin.port);
  return signedText('way', depot, ticket, origin.scheme, authority, client, timeMs);
}

// --- Question for running legs: master -> depot ----------------------------------------------------------------
//
//     GET /.well-known/longhaul-legs?job=<job id>&time=<Unix time in ms>&key=<key id>&signature=<base64url> HTTP/1.1
//
// `200` with what the depot's connections for this job do now (`depotLegsSchema`). Asked only while somebody
// looks, at most once a second; a depot that does not know the question answers otherwise.

const LEGS = new WellKnownTarget('/.well-known/longhaul-legs', { job: JOB_ID, ...WORD_ITEMS });

/** A master's question what a depot's connections for a job do now. */
export interface LegsQuestion extends MasterWord {
  readonly jobId: string;
}

/** Whether a raw request target is that of a question for legs, well-formed or not. */
export const isLegsTarget = LEGS.matches;

export function formatLegsTarget({ jobId, ...word }: LegsQuestion): string {
  return LEGS.format({ job: jobId, ...itemsOfWord(word) });
}

export function parseLegsTarget(rawTarget: string): Result<LegsQuestion> {
  const items = LEGS.parse(rawTarget);
  return items ? ok({ jobId: items.job, ...wordOf(items) }) : refuse('bad-request', 'no question for legs');
}

/** The bytes under a question's signature, for the depot that it is sent to. */
export function legsText(depot: string, { jobId, timeMs }: Pick<LegsQuestion, 'jobId' | 'timeMs'>): string {
  return signedText('legs', depot, jobId, timeMs);
}

// --- Test of a link: depot -> depot ----------------------------------------------------------------------------
//
//     GET /.well-known/longhaul-test?bytes=<n> HTTP/1.1
//     Longhaul-Proof: <as with CONNECT, of a depot at place 0 of a chain to the one that is asked, over linkTestText()>
//
// `200` with so many bytes that mean nothing. Who sends them sees in its own kernel what the link carries,
// and tells its master.

const LINK_TEST = new WellKnownTarget('/.well-known/longhaul-test', { bytes: /^[1-9][0-9]{0,9}$/ });

/** Whether a raw request target is that of a test, well-formed or not. */
export const isLinkTestTarget = LINK_TEST.matches;

export function formatLinkTestTarget(bytes: number): string {
  return LINK_TEST.format({ bytes: String(bytes) });
}

/** How many bytes are asked for. */
export function parseLinkTestTarget(rawTarget: string): Result<number> {
  const items = LINK_TEST.parse(rawTarget);
  if (!items) return refuse('bad-request', 'no test');
  const bytes = Number(items.bytes);
  return bytes <= MAX_TEST_BYTES ? ok(bytes) : refuse('bad-request', 'a test has no so many bytes');
}

/** What stands in a test's proof where a ticket does in that of a CONNECT; no ticket is like it. */
export function linkTestText(askedDepot: string, bytes: number): string {
  return `longhaul-test-${PROTOCOL_VERSION} ${askedDepot} ${bytes}`;
}
