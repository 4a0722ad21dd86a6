/**
 * CONNECT: depot -> next depot (and client -> entry depot when the ticket's kind is `tunnel`).
 *
 *     CONNECT origin.example:443 HTTP/1.1
 *     Host: origin.example:443
 *     Longhaul-Ticket: <ticket>
 *     Longhaul-Chain: 0                    0 = plan, 1.. = alternatives
 *     Longhaul-Proof: <depot id> <Unix time in ms> <Ed25519 signature or HMAC-SHA256, base64url>
 *
 * The answer is `200` with `Longhaul-Proofs: mac` from whoever takes MACs, or a refusal whose status,
 * `Longhaul-Error` and `Longhaul-Depot` travel back unchanged. A client sends the ticket as
 * `Proxy-Authorization: Longhaul <ticket>`, without chain and proof.
 */
import { type Authority, formatAuthority, parseAuthority } from '../origin-url.ts';
import { ok, type Result, refuse } from '../result.ts';
import { HEADERS, PROTOCOL_VERSION, signedText } from './protocol.ts';

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
  return signedText('proof', proof.depot, proof.timeMs, chainIndex, place, ticket);
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

/**
 * A client's CONNECT to a port of these has its browser get to know a ticket: nobody has a site there that a
 * ticket is for.
 */
const FIRST_INTRODUCTION_PORT = 49_152;
/** Enough that two tickets at one depot hardly ever have the same port. */
const INTRODUCTION_PORTS = 16_000;

/**
 * The port that a client asks its entry depot for by a ticket that its browser is to know from then on. It
 * tells the ticket's job (FNV-1a), so that the depot asks for that ticket where the browser shows another
 * one.
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
