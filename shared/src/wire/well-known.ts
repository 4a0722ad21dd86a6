import {
  type Authority,
  canonicalHost,
  formatAuthority,
  type OriginUrl,
  parsePort,
  parseScheme,
} from '../origin-url.ts';
import { ok, type Result, refuse } from '../result.ts';
import { MAX_TICKET_CHARS, PROTOCOL_VERSION } from './protocol.ts';
import { depotBaseUrl, looksLikeTicket } from './relay-target.ts';

// --- Proof of an address: master -> depot ----------------------------------------------------------------------
//
//     GET /.well-known/longhaul-depot?challenge=<32 random bytes, base64url> HTTP/1.1
//
//     Longhaul-Signature: <Unix time in ms> <key id> <base64url>
//
// The answer is `200` with `{"id", "signature"}`, to whoever asks. A depot's address counts once the depot has answered
// there with the key that it is registered with. The header is a master's word that it asks: masters wait for no stranger.

const CHALLENGE_PATH = '/.well-known/longhaul-depot';

/** The request target that asks a depot to prove where it is. */
export function formatChallengeTarget(challenge: string): string {
  return `${CHALLENGE_PATH}?challenge=${challenge}`;
}

/** Whether a raw request target is that of a challenge, well-formed or not. */
export function isChallengeTarget(rawTarget: string): boolean {
  return rawTarget === CHALLENGE_PATH || rawTarget.startsWith(`${CHALLENGE_PATH}?`);
}

export function parseChallengeTarget(rawTarget: string): Result<string> {
  const [, challenge] = /^[^?]*\?challenge=([A-Za-z0-9_-]{43})$/.exec(rawTarget) ?? [];
  if (challenge === undefined || !isChallengeTarget(rawTarget)) return refuse('bad-request', 'no challenge');
  return ok(challenge);
}

/** A master's word that it asks a depot to prove where it is. */
export interface ChallengeWord {
  readonly timeMs: number;
  /** The master's key that signed it. */
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** What `Longhaul-Signature` says beside a challenge. */
export function formatChallengeWord({ timeMs, keyId, signature }: ChallengeWord): string {
  return `${timeMs} ${keyId} ${signature}`;
}

/** Reads what `Longhaul-Signature` says beside a challenge; `undefined` where that is no master's word. */
export function parseChallengeWord(text: string): ChallengeWord | undefined {
  const [, time, keyId, signature] =
    /^([0-9]{1,15}) ([A-Za-z0-9_-]{1,64}) ([A-Za-z0-9_-]{86})$/.exec(text) ?? [];
  return time && keyId && signature ? { timeMs: Number(time), keyId, signature } : undefined;
}

/** The bytes under a master's word with a challenge, for the depot that it is sent to. */
export function challengeText(depot: string, challenge: string, timeMs: number): string {
  return [`longhaul-challenge-${PROTOCOL_VERSION}`, depot, challenge, timeMs].join('\n');
}

/** The bytes that a depot signs to prove that it is where it is registered; they serve for nothing else. */
export function addressProofText(
  id: string,
  place: Authority & { readonly tls: boolean },
  challenge: string,
): string {
  return [`longhaul-address-${PROTOCOL_VERSION}`, id, depotBaseUrl(place), challenge].join('\n');
}

// --- Notice of a plan: master -> depot -------------------------------------------------------------------------
//
//     GET /.well-known/longhaul-notice?next=<depot id>&time=<Unix time in ms>&key=<key id>&signature=<base64url> HTTP/1.1
//
// `204`: a client is about to come with a ticket by whose plan this depot needs a connection to `next`. The depot may open it
// ahead. Nothing depends on a notice: a depot that does not know them answers otherwise, and is told none for a while.

const NOTICE_PATH = '/.well-known/longhaul-notice';

/** A master's word that a depot will need a connection to the next one of a chain. */
export interface PlanNotice {
  /** Id of the depot to connect to. */
  readonly next: string;
  readonly timeMs: number;
  /** The master's key that signed it. */
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

export function formatNoticeTarget({ next, timeMs, keyId, signature }: PlanNotice): string {
  return `${NOTICE_PATH}?next=${next}&time=${timeMs}&key=${keyId}&signature=${signature}`;
}

/** Whether a raw request target is that of a notice, well-formed or not. */
export function isNoticeTarget(rawTarget: string): boolean {
  return rawTarget === NOTICE_PATH || rawTarget.startsWith(`${NOTICE_PATH}?`);
}

const NOTICE_QUERY =
  /^[^?]*\?next=([a-z0-9-]{1,10})&time=([0-9]{1,15})&key=([A-Za-z0-9_-]{1,64})&signature=([A-Za-z0-9_-]{86})$/;

export function parseNoticeTarget(rawTarget: string): Result<PlanNotice> {
  const [, next, time, keyId, signature] = NOTICE_QUERY.exec(rawTarget) ?? [];
  if (!isNoticeTarget(rawTarget) || !next || !time || !keyId || !signature)
    return refuse('bad-request', 'no notice');
  return ok({ next, timeMs: Number(time), keyId, signature });
}

/** The bytes under a notice's signature, for the depot that it is sent to. */
export function noticeText(depot: string, { next, timeMs }: Pick<PlanNotice, 'next' | 'timeMs'>): string {
  return [`longhaul-notice-${PROTOCOL_VERSION}`, depot, next, timeMs].join('\n');
}

// --- Notice of a way: master -> entry depot --------------------------------------------------------------------
//
//     GET /.well-known/longhaul-way?ticket=<ticket>&server=S&port=P&scheme=...&client=<network>&time=<Unix time in ms>&key=<key id>&signature=<base64url> HTTP/1.1
//
// `204`: a client of this network (/24, or /48 of IPv6) is about to come with this ticket. The depot may make the way to the origin
// ahead: the tunnel, and the handshake with an origin over https; no request. It names origin and client, and holds a ticket: a master
// sends it over TLS only to who proves to be the depot by its certificate. Nothing depends on it, as on a notice of a plan.

const WAY_PATH = '/.well-known/longhaul-way';

/** Where an origin is, and how it is spoken to. */
export type OriginPlace = Pick<OriginUrl, 'scheme' | 'host' | 'port'>;

/** A master's word that a client is about to come with a ticket. */
export interface WayNotice {
  readonly ticket: string;
  readonly origin: OriginPlace;
  /** The client's network. */
  readonly client: string;
  readonly timeMs: number;
  /** The master's key that signed it. */
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

export function formatWayTarget({ ticket, origin, client, timeMs, keyId, signature }: WayNotice): string {
  const { host, port, scheme } = origin;
  return `${WAY_PATH}?ticket=${ticket}&server=${host}&port=${port}&scheme=${scheme}&client=${client}&time=${timeMs}&key=${keyId}&signature=${signature}`;
}

/** Whether a raw request target is that of a notice of a way, well-formed or not. */
export function isWayTarget(rawTarget: string): boolean {
  return rawTarget === WAY_PATH || rawTarget.startsWith(`${WAY_PATH}?`);
}

const WAY_QUERY =
  /^[^?]*\?ticket=([^&]+)&server=([^&]+)&port=([^&]+)&scheme=([^&]+)&client=([0-9a-f.:]{2,45}\/(?:24|48))&time=([0-9]{1,15})&key=([A-Za-z0-9_-]{1,64})&signature=([A-Za-z0-9_-]{86})$/;

export function parseWayTarget(rawTarget: string): Result<WayNotice> {
  const found = isWayTarget(rawTarget) ? WAY_QUERY.exec(rawTarget) : null;
  const [, ticket = '', server = '', portText = '', schemeText = '', client = '', time, keyId, signature] =
    found ?? [];
  if (!found || !keyId || !signature || !looksLikeTicket(ticket) || ticket.length > MAX_TICKET_CHARS)
    return refuse('bad-request', 'no notice of a way');
  const host = canonicalHost(server);
  const port = parsePort(portText);
  const scheme = parseScheme(schemeText);
  if (!host.ok || !port.ok || !scheme.ok) return refuse('bad-request', 'the notice of a way names no origin');
  const origin = { host: host.value, port: port.value, scheme: scheme.value };
  return ok({ ticket, origin, client, timeMs: Number(time), keyId, signature });
}

/** The bytes under a notice of a way's signature, for the depot that it is sent to. */
export function wayText(depot: string, notice: Omit<WayNotice, 'keyId' | 'signature'>): string {
  const { ticket, origin, client, timeMs } = notice;
  const authority = formatAuthority(origin.host, origin.port);
  const lines = [depot, ticket, origin.scheme, authority, client, timeMs];
  return [`longhaul-way-${PROTOCOL_VERSION}`, ...lines].join('\n');
}

// --- Question for running legs: master -> depot ----------------------------------------------------------------
//
//     GET /.well-known/longhaul-legs?job=<job id>&time=<Unix time in ms>&key=<key id>&signature=<base64url> HTTP/1.1
//
// `200` with what the depot's connections for this job do now (`depotLegsSchema`). Asked only while somebody looks, at most
// once a second; a depot that does not know the question answers otherwise.

const LEGS_PATH = '/.well-known/longhaul-legs';

/** A master's question what a depot's connections for a job do now. */
export interface LegsQuestion {
  readonly jobId: string;
  readonly timeMs: number;
  /** The master's key that signed it. */
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

export function formatLegsTarget({ jobId, timeMs, keyId, signature }: LegsQuestion): string {
  return `${LEGS_PATH}?job=${jobId}&time=${timeMs}&key=${keyId}&signature=${signature}`;
}

/** Whether a raw request target is that of a question for legs, well-formed or not. */
export function isLegsTarget(rawTarget: string): boolean {
  return rawTarget === LEGS_PATH || rawTarget.startsWith(`${LEGS_PATH}?`);
}

const LEGS_QUERY =
  /^[^?]*\?job=([A-Za-z0-9_-]{1,16})&time=([0-9]{1,15})&key=([A-Za-z0-9_-]{1,64})&signature=([A-Za-z0-9_-]{86})$/;

export function parseLegsTarget(rawTarget: string): Result<LegsQuestion> {
  const [, jobId, time, keyId, signature] = LEGS_QUERY.exec(rawTarget) ?? [];
  if (!isLegsTarget(rawTarget) || !jobId || !time || !keyId || !signature)
    return refuse('bad-request', 'no question for legs');
  return ok({ jobId, timeMs: Number(time), keyId, signature });
}

/** The bytes under a question's signature, for the depot that it is sent to. */
export function legsText(depot: string, { jobId, timeMs }: Pick<LegsQuestion, 'jobId' | 'timeMs'>): string {
  return [`longhaul-legs-${PROTOCOL_VERSION}`, depot, jobId, timeMs].join('\n');
}

// --- Test of a link: depot -> depot ----------------------------------------------------------------------------
//
//     GET /.well-known/longhaul-test?bytes=<n> HTTP/1.1
//     Longhaul-Proof: <as with CONNECT, of a depot at place 0 of a chain to the one that is asked, over linkTestText()>
//
// `200` with so many bytes that mean nothing. Who sends them sees in its own kernel what the link carries, and tells its master.

const TEST_PATH = '/.well-known/longhaul-test';
/** Far fast links need some megabytes to leave slow start; a depot has not many of these in an hour. */
export const MAX_TEST_BYTES = 4_000_000;

export function formatLinkTestTarget(bytes: number): string {
  return `${TEST_PATH}?bytes=${bytes}`;
}

/** Whether a raw request target is that of a test, well-formed or not. */
export function isLinkTestTarget(rawTarget: string): boolean {
  return rawTarget === TEST_PATH || rawTarget.startsWith(`${TEST_PATH}?`);
}

/** How many bytes are asked for. */
export function parseLinkTestTarget(rawTarget: string): Result<number> {
  const [, bytes] = /^[^?]*\?bytes=([1-9][0-9]{0,9})$/.exec(rawTarget) ?? [];
  if (bytes === undefined || !isLinkTestTarget(rawTarget)) return refuse('bad-request', 'no test');
  return Number(bytes) <= MAX_TEST_BYTES
    ? ok(Number(bytes))
    : refuse('bad-request', 'a test has no so many bytes');
}

/** What stands in a test's proof where a ticket does in that of a CONNECT; no ticket is like it. */
export function linkTestText(askedDepot: string, bytes: number): string {
  return `longhaul-test-${PROTOCOL_VERSION} ${askedDepot} ${bytes}`;
}
