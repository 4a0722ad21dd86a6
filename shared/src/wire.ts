/**
 * The wire protocol of Longhaul: flow, messages, versions, caps.
 *
 * Flow of a download in cascade signalling (the default), with D1 nearest to the client and Dk nearest to the origin:
 *
 *     client -> master   GET /get/https/origin.example/path/file.iso?q
 *     master -> client   307 https://D1/path/file.iso?<ticket>&server=origin.example&port=443&scheme=https&query=q
 *     client -> D1       GET that address; D1 checks the ticket, then builds the chain:
 *     D1 -> D2           CONNECT origin.example:443, with ticket, chain index and proof (see below)
 *     D2 -> ... -> Dk    the same message, each with a proof of its own; Dk resolves, checks and dials the origin
 *     Dk -> ... -> D1    200, and from there on bytes that nobody between looks at
 *     D1 <-> origin      HTTP (and TLS) through the tunnel; D1 answers the client with the body
 *
 * Stepwise signalling is the 2009 paper's: the client goes to Dk first (`server=`, `port=`), which fetches at once, and is
 * redirected from depot to depot (`depot=`, `port=`) down to D1. Here for three depots:
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
import {
  type Authority,
  canonicalHost,
  formatAuthority,
  hostHeader,
  type OriginUrl,
  originHref,
  originTarget,
  originUrl,
  parseAuthority,
  parseOriginParts,
  parseOriginUrl,
  parsePort,
  parseScheme,
  percentEncodeBytes,
  withHttps,
} from './origin-url.ts';
import { ok, type Result, refuse } from './result.ts';
import { parseBytes } from './units.ts';

/** Stands in the ticket's type and in everything that depots and masters sign. */
export const PROTOCOL_VERSION = 1;

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
/** How far two clocks may differ, in seconds. */
export const CLOCK_SKEW_SECONDS = 60;

/** Depot ids stand in tickets, URLs, headers and logs, so they are short and plain. */
export const DEPOT_ID = /^[a-z0-9-]{1,10}$/;

/** Header names of the messages between depots, and of every refusal. */
export const HEADERS = {
  ticket: 'longhaul-ticket',
  chain: 'longhaul-chain',
  proof: 'longhaul-proof',
  /** Told to a caller whose tunnel stands: which proofs are taken beside signatures. Told to a master: how answers are to be proved. */
  proofs: 'longhaul-proofs',
  /** Stable error code of a refusal. */
  error: 'longhaul-error',
  /** Id of the depot that refused, or that answers. */
  depot: 'longhaul-depot',
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

/** Fragment of a `direct` answer: the add-on lets such a download pass; no server ever sees it. */
export const DIRECT_FRAGMENT = '#lh-direct';

/** The origin itself, for a client that is led there; its add-on knows by the fragment that it need not ask again. */
export function directLocation(url: OriginUrl): string {
  return `${originHref(url)}${DIRECT_FRAGMENT}`;
}

/** Three base64url parts, the last of the 86 characters of an Ed25519 signature. */
const TICKET = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/;

export function looksLikeTicket(text: string): boolean {
  return TICKET.test(text);
}

// --- Relay requests: client -> depot -------------------------------------------------------------------------

/** `/<path>/<file>?<ticket>&server=S&port=P&scheme=...[&query=...]`: fetch this origin URL. */
export interface OriginRelayRequest {
  readonly from: 'origin';
  readonly ticket: string;
  readonly url: OriginUrl;
}

/** `/<path>/<file>?<ticket>&depot=Dk&port=Pk`: take the body that depot Dk is holding (stepwise signalling). */
export interface DepotRelayRequest {
  readonly from: 'depot';
  readonly ticket: string;
  readonly path: string;
  readonly depot: string;
  readonly port: number;
}

/** `/<path>/<file>?<ticket>`, with `Longhaul-Proof`: the successor asks for what is held for it (stepwise signalling). */
export interface HandoverRequest {
  readonly from: 'successor';
  readonly ticket: string;
  readonly path: string;
}

export type RelayRequest = OriginRelayRequest | DepotRelayRequest | HandoverRequest;

/** The request target that makes a depot fetch `url`. The raw query travels percent-encoded once. */
export function formatOriginRelayTarget(ticket: string, url: OriginUrl): string {
  const query = url.query === null ? '' : `&query=${encodeURIComponent(url.query)}`;
  return `${url.path}?${ticket}&server=${url.host}&port=${url.port}&scheme=${url.scheme}${query}`;
}

/** The request target that makes a depot take over from `depot` (stepwise signalling). */
export function formatDepotRelayTarget(ticket: string, path: string, depot: string, port: number): string {
  return `${path}?${ticket}&depot=${depot}&port=${port}`;
}

/** Where a depot is reached; the base of all its addresses. */
export function depotBaseUrl({ host, port, tls }: Authority & { readonly tls: boolean }): string {
  return `${tls ? 'https' : 'http'}://${formatAuthority(host, port)}`;
}

/**
 * The target of a request without scheme and authority, which clients may write before it (RFC 9112 section 3.2.2). Neither leads anywhere: the
 * request is to whoever has got it, as with any `Host`, and what it may fetch is for its ticket to say.
 */
export function originForm(rawTarget: string): string {
  const [isAbsolute, rest = '/'] = /^https?:\/\/[^/?#]+(.*)$/is.exec(rawTarget) ?? [];
  if (isAbsolute === undefined) return rawTarget;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Whether the first query item is a ticket: then the request is a relay request, whatever its path. */
export function isRelayTarget(rawTarget: string): boolean {
  const first = /\?([^&#]*)/.exec(rawTarget)?.[1];
  return first !== undefined && looksLikeTicket(first);
}

/** Parses the raw request target of a relay request; never resolves, decodes or merges its path. */
export function parseRelayTarget(rawTarget: string): Result<RelayRequest> {
  const target = percentEncodeBytes(rawTarget);
  const queryStart = target.indexOf('?');
  const path = target.slice(0, queryStart);
  const [ticket, ...items] = target.slice(queryStart + 1).split('&');
  if (!ticket || !looksLikeTicket(ticket)) return refuse('not-a-relay-request');
  if (ticket.length > MAX_TICKET_CHARS) return refuse('ticket-malformed', 'it is too long');
  if (items.length === 0 && path.startsWith('/')) return ok({ from: 'successor', ticket, path });
  const parameters = parseParameters(items);
  if (!parameters.ok) return parameters;
  const { server, port, scheme, query, depot } = parameters.value;
  const portNumber = parsePort(port ?? '');
  if (!portNumber.ok) return portNumber;
  if (depot !== undefined) {
    if ([server, scheme, query].some((value) => value !== undefined))
      return refuse('parameters-disagree', 'depot= stands alone with port=');
    if (!DEPOT_ID.test(depot) || !path.startsWith('/'))
      return refuse('parameters-disagree', 'depot= is not an id');
    return ok({ from: 'depot', ticket, path, depot, port: portNumber.value });
  }
  const schemeName = parseScheme(scheme ?? '');
  if (!schemeName.ok) return schemeName;
  const host = canonicalHost(server ?? '');
  if (!host.ok || host.value !== server)
    return refuse('parameters-disagree', 'server= is not a canonical host');
  const url = originUrl({
    scheme: schemeName.value,
    host: host.value,
    port: portNumber.value,
    path,
    query: query ?? null,
  });
  return url.ok ? ok({ from: 'origin', ticket, url: url.value }) : url;
}

type RelayParameters = Partial<Record<'server' | 'port' | 'scheme' | 'query' | 'depot', string>>;

function parseParameters(items: readonly string[]): Result<RelayParameters> {
  const found: RelayParameters = {};
  for (const item of items) {
    const equals = item.indexOf('=');
    const name = item.slice(0, Math.max(equals, 0));
    if (!isParameterName(name) || found[name] !== undefined) {
      return refuse('parameters-disagree', 'a parameter is unknown or doubled');
    }
    try {
      found[name] = decodeURIComponent(item.slice(equals + 1));
    } catch {
      return refuse('parameters-disagree', `${name}= is not percent-encoded UTF-8`);
    }
  }
  return ok(found);
}

function isParameterName(name: string): name is keyof RelayParameters {
  return ['server', 'port', 'scheme', 'query', 'depot'].includes(name);
}

// --- CONNECT: depot -> next depot (and client -> entry depot when the ticket's kind is `tunnel`) ---------------
//
//     CONNECT origin.example:443 HTTP/1.1
//     Host: origin.example:443
//     Longhaul-Ticket: <ticket>
//     Longhaul-Chain: 0                    0 = plan, 1.. = alternatives
//     Longhaul-Proof: <depot id> <Unix time in ms> <Ed25519 signature or HMAC-SHA256, base64url>
//
// The answer is `200` with `Longhaul-Proofs: mac` from whoever takes MACs, or a refusal whose status, `Longhaul-Error` and `Longhaul-Depot` travel back unchanged.
// A client sends the ticket as `Proxy-Authorization: Longhaul <ticket>`, without chain and proof.

/** What a depot asks the next one of a chain for. */
export interface ConnectRequest {
  readonly authority: Authority;
  readonly ticket: string;
  readonly chainIndex: number;
  readonly proof: ConnectProof;
}

/** The head of a CONNECT, to its empty line. Throws a `RangeError` where a part of it would end its line. */
export function formatConnect({ authority, ticket, chainIndex, proof }: ConnectRequest): string {
  const target = formatAuthority(authority.host, authority.port);
  const lines = [
    `CONNECT ${target} HTTP/1.1`,
    `Host: ${target}`,
    `${HEADERS.ticket}: ${ticket}`,
    `${HEADERS.chain}: ${chainIndex}`,
    `${HEADERS.proof}: ${formatProof(proof)}`,
  ];
  if (!lines.every((line) => ONE_LINE.test(line))) throw new RangeError('a part of the request is no text');
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const ONE_LINE = /^[\x20-\x7e]+$/;

export interface ConnectProof {
  readonly depot: string;
  readonly timeMs: number;
  /** Over {@link proofText}: a signature, or a MAC under the key that both depots can work out of their own. */
  readonly signature: string;
}

/** What the key of MACs is for; the other half of it is both depots' public keys. */
export const MAC_PURPOSE = `longhaul-mac-${PROTOCOL_VERSION}`;
/** Value of `Longhaul-Proofs`: proofs may be MACs from now on. */
export const TAKES_MACS = 'mac';

/** Whether a proof is a MAC, by its length. */
export function isMac({ signature }: Pick<ConnectProof, 'signature'>): boolean {
  return signature.length === MAC_CHARS;
}

/** 32 bytes in base64url. */
const MAC_CHARS = 43;

/** The bytes that a depot signs to prove that it is the one before the receiver in this chain, now. */
export function proofText(
  proof: Pick<ConnectProof, 'depot' | 'timeMs'>,
  ticket: string,
  chainIndex: number,
  place: number,
): string {
  return [`longhaul-proof-${PROTOCOL_VERSION}`, proof.depot, proof.timeMs, chainIndex, place, ticket].join(
    '\n',
  );
}

export function formatProof(proof: ConnectProof): string {
  return `${proof.depot} ${proof.timeMs} ${proof.signature}`;
}

export function parseProof(text: string): Result<ConnectProof> {
  const match = /^([a-z0-9-]{1,10}) ([0-9]{1,15}) ([A-Za-z0-9_-]{86}|[A-Za-z0-9_-]{43})$/.exec(text);
  if (!match) return refuse('caller-not-proved', 'the proof is damaged');
  const [, depot = '', timeMs = '', signature = ''] = match;
  return ok({ depot, timeMs: Number(timeMs), signature });
}

/** Parses the target of a CONNECT: `host:port`, canonical, with the port written. */
export function parseConnectTarget(rawTarget: string): Result<Authority> {
  const authority = parseAuthority(rawTarget, null);
  if (!authority.ok) return authority;
  const { host, port } = authority.value;
  return formatAuthority(host, port) === rawTarget
    ? authority
    : refuse('bad-url', 'the target is not canonical');
}

/** A client's CONNECT to a port of these has its browser get to know a ticket: nobody has a site there that a ticket is for. */
const FIRST_INTRODUCTION_PORT = 49_152;
/** Enough that two tickets at one depot hardly ever have the same port. */
const INTRODUCTION_PORTS = 16_000;

/**
 * The port that a client asks its entry depot for by a ticket that its browser is to know from then on. It tells the ticket's job
 * (FNV-1a), so that the depot asks for that ticket where the browser shows another one.
 */
export function introductionPort(jobId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < jobId.length; index += 1)
    hash = Math.imul(hash ^ jobId.charCodeAt(index), 0x01000193) >>> 0;
  return FIRST_INTRODUCTION_PORT + (hash % INTRODUCTION_PORTS);
}

export function isIntroductionPort(port: number): boolean {
  return port >= FIRST_INTRODUCTION_PORT && port < FIRST_INTRODUCTION_PORT + INTRODUCTION_PORTS;
}

// --- Signed requests: depot <-> master -------------------------------------------------------------------------

//     POST /v1/depots/<id>/heartbeat HTTP/1.1
//     Longhaul-Time: <Unix time in ms>
//     Longhaul-Sequence: <epoch> <number>
//     Longhaul-Signature: <Ed25519 signature, base64url>
//     Longhaul-Enrolment: <HMAC-SHA256 under the enrolment secret, base64url>     (registrations of depots that have it)
//     Longhaul-Proofs: overlay-key                                               (depots that have joined with a token)
//
// The time bounds how long a recorded request could be of use. Order comes from the sequence alone, so a clock may be set.

/** When and in which order a depot sent a request to its master. */
export interface RequestStamp {
  readonly timeMs: number;
  /** Stands for one running process of the depot: made at its start, by chance, never used again. */
  readonly epoch: string;
  /** Counts the requests of an epoch, from 1. */
  readonly sequence: number;
}

export function formatSequence({ epoch, sequence }: Pick<RequestStamp, 'epoch' | 'sequence'>): string {
  return `${epoch} ${sequence}`;
}

/** Reads the headers of time and sequence; `undefined` where one is missing or damaged. */
export function parseStamp(time: string | undefined, sequence: string | undefined): RequestStamp | undefined {
  const [, epoch, number] = /^([A-Za-z0-9_-]{8,24}) ([1-9][0-9]{0,14})$/.exec(sequence ?? '') ?? [];
  if (time === undefined || !/^[0-9]{1,15}$/.test(time) || epoch === undefined) return undefined;
  return { timeMs: Number(time), epoch, sequence: Number(number) };
}

/** The bytes that a depot signs for a request to its master; `bodySha256` in base64url. */
export function signedRequestText(
  method: string,
  path: string,
  stamp: RequestStamp,
  bodySha256: string,
): string {
  const { timeMs } = stamp;
  return [
    `longhaul-request-${PROTOCOL_VERSION}`,
    method,
    path,
    timeMs,
    formatSequence(stamp),
    bodySha256,
  ].join('\n');
}

/** Value of a request's `Longhaul-Proofs`: the answer is to be signed with the overlay's key. */
export const OVERLAY_KEY = 'overlay-key';
/** What the overlay's key is worked out of the enrolment secret for. */
export const OVERLAY_KEY_PURPOSE = `longhaul-overlay-key-${PROTOCOL_VERSION}`;

/** The bytes that a depot's new key signs, so that nobody takes another one's public key for his. */
export function newKeyText(depot: string, oldKey: string, newKey: string): string {
  return [`longhaul-new-key-${PROTOCOL_VERSION}`, depot, oldKey, newKey].join('\n');
}

/** The bytes with which a master's answer proves itself and its freshness: under the enrolment secret's MAC, or signed with the overlay's key. */
export function signedAnswerText(requestSignature: string, bodySha256: string): string {
  return [`longhaul-answer-${PROTOCOL_VERSION}`, requestSignature, bodySha256].join('\n');
}

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

// --- Download requests: client -> master -----------------------------------------------------------------------
//
//     /get/[~size=...,via=d3+d1,avoid=d2,lanes=4,signalling=stepwise/]<scheme>/<host>[:port]/<path>[?<query>]
//     /get?url=<percent-encoded URL>[&size=...]      (what a plain HTML form sends: https:// may be left out, and the
//                                                     size may be written as 700 MB)

/** How a client is led to its entry depot: by one redirect, or from depot to depot. */
export type Signalling = 'cascade' | 'stepwise';

/** What a client may ask of the plan. */
export interface GetOptions {
  readonly sizeBytes?: number;
  /** Exactly these depots, in the order the bytes pass: from the origin to the client. */
  readonly via?: readonly string[];
  readonly avoid?: readonly string[];
  /** Exactly so many lanes where a chain is taken; without it the planner's number, or one with `via`. */
  readonly lanes?: number;
  /** Left out: cascade. */
  readonly signalling?: Signalling;
}

export interface GetRequest {
  readonly url: OriginUrl;
  readonly options: GetOptions;
}

/** The master's path for a download: stable for ever, planned anew for each request. */
export function formatGetPath(url: OriginUrl, options: GetOptions = {}): string {
  const parts: string[] = [];
  if (options.sizeBytes !== undefined) parts.push(`size=${options.sizeBytes}`);
  if (options.via?.length) parts.push(`via=${options.via.join('+')}`);
  if (options.avoid?.length) parts.push(`avoid=${options.avoid.join('+')}`);
  if (options.lanes !== undefined) parts.push(`lanes=${options.lanes}`);
  if (options.signalling !== undefined) parts.push(`signalling=${options.signalling}`);
  const place = parts.length > 0 ? `~${parts.join(',')}/` : '';
  return `/get/${place}${url.scheme}/${hostHeader(url)}${originTarget(url)}`;
}

/** Whether a raw request target belongs to the redirect path. */
export function isGetTarget(rawTarget: string): boolean {
  return rawTarget.startsWith('/get/') || rawTarget.startsWith('/get?');
}

/** Parses the raw request target of a download request, whose path and query bytes stay as they came. */
export function parseGetTarget(rawTarget: string): Result<GetRequest> {
  if (rawTarget.startsWith('/get?')) return parseGetForm(rawTarget.slice('/get?'.length));
  const match = /^\/get\/(?:~([^/]*)\/)?([^/?]*)\/(.*)$/s.exec(percentEncodeBytes(rawTarget));
  if (!match) return refuse('bad-url', 'the form is /get/<scheme>/<host>/<path>');
  const [, optionText, scheme = '', rest = ''] = match;
  const options = parseOptions(optionText ?? '');
  if (!options.ok) return options;
  const url = parseOriginParts(scheme, rest);
  if (!url.ok) return url;
  if (url.value.query?.includes('#'))
    return refuse('bad-url', 'the query has characters that are not allowed');
  return ok({ url: url.value, options: options.value });
}

function parseGetForm(query: string): Result<GetRequest> {
  const form = new URLSearchParams(query);
  const url = parseOriginUrl(withHttps(form.get('url') ?? ''));
  if (!url.ok) return url;
  const size = form.get('size')?.trim() ?? '';
  if (size === '') return ok({ url: url.value, options: {} });
  const sizeBytes = parseBytes(size);
  if (sizeBytes === undefined) return refuse('bad-options', `size ${size.slice(0, 40)}`);
  return ok({ url: url.value, options: { sizeBytes } });
}

function parseOptions(text: string): Result<GetOptions> {
  const options: {
    sizeBytes?: number;
    via?: string[];
    avoid?: string[];
    lanes?: number;
    signalling?: Signalling;
  } = {};
  for (const item of text === '' ? [] : text.split(',')) {
    const [name, value = ''] = item.split('=', 2);
    if (name === 'size' && /^[0-9]{1,15}$/.test(value)) options.sizeBytes = Number(value);
    else if (name === 'lanes' && /^[0-9]$/.test(value) && isLaneCount(Number(value)))
      options.lanes = Number(value);
    else if ((name === 'via' || name === 'avoid') && isDepotList(value.split('+')))
      options[name] = value.split('+');
    else if (name === 'signalling' && (value === 'cascade' || value === 'stepwise'))
      options.signalling = value;
    else return refuse('bad-options', item.slice(0, 40));
  }
  return ok(options);
}

/** Whether a download may have so many lanes: 1 to `MAX_LANES`. */
export function isLaneCount(lanes: number): boolean {
  return Number.isInteger(lanes) && lanes >= 1 && lanes <= MAX_LANES;
}

function isDepotList(ids: readonly string[]): boolean {
  const fits = ids.length <= MAX_LISTED_DEPOTS && ids.every((id) => DEPOT_ID.test(id));
  return fits && new Set(ids).size === ids.length;
}
