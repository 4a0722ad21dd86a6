/**
 * The ticket: the signed short form of a plan, a JWS (RFC 7515, compact) with EdDSA (RFC 8037) and short claims.
 *
 *     header  {"alg":"EdDSA","typ":"lh1","kid":"<key id>"}
 *     claims  {"j":job id,"k":"g"|"s"|"t","u":URL hash,"a":authority hash,"c":chains,"n":numbers}
 *     numbers [lanes,kbit/s,budget bytes,budget connections,issued at,seconds to start,seconds of life]
 *
 * Hashes are the first 16 bytes of SHA-256, base64url: of the canonical origin URL and of `host:port`. Chains are
 * one string, `<ids joined by .>~<plan>~<alternative>...`, where a chain is one digit for each depot: its index
 * in the ids, entry depot first. So a ticket for three hops with two alternatives stays within 512 characters.
 *
 * Signing, verifying and hashing are passed in: this file runs wherever the web platform does.
 */
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { canonicalOriginUrl, formatAuthority, type OriginUrl } from './origin-url.ts';
import { ok, type Result, refuse } from './result.ts';
import {
  CLOCK_SKEW_SECONDS,
  DEPOT_ID,
  MAX_ALTERNATIVES,
  MAX_CHAIN_DEPOTS,
  MAX_TICKET_CHARS,
  PROTOCOL_VERSION,
} from './wire.ts';

/**
 * `get`: a download by cascade; `stepwise`: one by stepwise signalling, and everything that `get` is; `tunnel`: bytes
 * between a client and an origin.
 */
export type TicketKind = 'get' | 'stepwise' | 'tunnel';

const KIND_LETTERS: Readonly<Record<TicketKind, string>> = { get: 'g', stepwise: 's', tunnel: 't' };
const KINDS = new Map(Object.entries(KIND_LETTERS).map(([kind, letter]) => [letter, kind as TicketKind]));

/** Depot ids, the entry depot first. */
export type Chain = readonly string[];

export interface TicketClaims {
  readonly jobId: string;
  readonly kind: TicketKind;
  readonly urlHash: string;
  readonly authorityHash: string;
  /** The plan, then its alternatives; never empty. */
  readonly chains: readonly Chain[];
  readonly lanes: number;
  /** Expected rate of the plan, in bits per second (kept in whole kbit/s). */
  readonly rateBps: number;
  readonly budgetBytes: number;
  readonly budgetConnections: number;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Unix seconds after which a depot starts no new job for this ticket. */
  readonly lastStart: number;
  /** Unix seconds after which nothing is served. */
  readonly endOfLife: number;
}

export type Sha256 = (text: string) => Uint8Array;

const TICKET_TYPE = `lh${PROTOCOL_VERSION}`;
const HASH_BYTES = 16;
const HASH = /^[A-Za-z0-9_-]{22}$/;
const KEY_ID = /^[A-Za-z0-9_-]{1,16}$/;
const JOB_ID = /^[A-Za-z0-9_-]{1,16}$/;

export function hashOriginUrl(url: OriginUrl, sha256: Sha256): string {
  return encodeBase64url(sha256(canonicalOriginUrl(url)).subarray(0, HASH_BYTES));
}

export function hashAuthority(host: string, port: number, sha256: Sha256): string {
  return encodeBase64url(sha256(formatAuthority(host, port)).subarray(0, HASH_BYTES));
}

/** Signs `claims` into a ticket. `sign` gives the 64 bytes of an Ed25519 signature over its input. */
export function issueTicket(
  claims: TicketClaims,
  keyId: string,
  sign: (bytes: Uint8Array) => Uint8Array,
): string {
  const header = { alg: 'EdDSA', typ: TICKET_TYPE, kid: keyId };
  const payload = {
    j: claims.jobId,
    k: KIND_LETTERS[claims.kind],
    u: claims.urlHash,
    a: claims.authorityHash,
    c: encodeChains(claims.chains),
    n: [
      claims.lanes,
      Math.round(claims.rateBps / 1000),
      claims.budgetBytes,
      claims.budgetConnections,
      claims.issuedAt,
      claims.lastStart - claims.issuedAt,
      claims.endOfLife - claims.issuedAt,
    ],
  };
  const signed = `${encodeJson(header)}.${encodeJson(payload)}`;
  return `${signed}.${encodeBase64url(sign(new TextEncoder().encode(signed)))}`;
}

/** A ticket whose form, version and algorithm are right; nothing in it may be believed before `verifyTicket`. */
export interface UnverifiedTicket {
  readonly keyId: string;
  readonly claims: TicketClaims;
  readonly signedBytes: Uint8Array;
  readonly signature: Uint8Array;
}

/** Decodes a ticket. Everything that can be refused without cryptography is refused here. */
export function decodeTicket(text: string): Result<UnverifiedTicket> {
  const [headerText, payloadText, signatureText, ...rest] = text.split('.');
  if (text.length > MAX_TICKET_CHARS || !headerText || !payloadText || !signatureText || rest.length > 0) {
    return refuse('ticket-malformed');
  }
  const header = decodeJson(headerText);
  const signature = decodeBase64url(signatureText);
  if (!header || signature?.length !== 64) return refuse('ticket-malformed');
  if (header.alg !== 'EdDSA' || header.typ !== TICKET_TYPE) return refuse('ticket-version-unknown');
  if (typeof header.kid !== 'string' || !KEY_ID.test(header.kid)) return refuse('ticket-key-unknown');
  const payload = decodeJson(payloadText);
  const claims = payload && readClaims(payload);
  if (!claims) return refuse('ticket-malformed', 'its claims do not fit');
  const signedBytes = new TextEncoder().encode(`${headerText}.${payloadText}`);
  return ok({ keyId: header.kid, claims, signedBytes, signature });
}

/** Verifies a decoded ticket's signature; `verify` is undefined for an unknown key. */
export function verifyTicket(
  ticket: UnverifiedTicket,
  verify: ((bytes: Uint8Array, signature: Uint8Array) => boolean) | undefined,
): Result<TicketClaims> {
  if (!verify) return refuse('ticket-key-unknown');
  return verify(ticket.signedBytes, ticket.signature) ? ok(ticket.claims) : refuse('ticket-signature-wrong');
}

/** Where a ticket stands in its life at `nowSeconds`, with the allowance for clocks on both ends. */
export function ticketPhase(
  claims: TicketClaims,
  nowSeconds: number,
): 'future' | 'start' | 'resume' | 'over' {
  if (nowSeconds < claims.issuedAt - CLOCK_SKEW_SECONDS) return 'future';
  if (nowSeconds <= claims.lastStart + CLOCK_SKEW_SECONDS) return 'start';
  return nowSeconds <= claims.endOfLife + CLOCK_SKEW_SECONDS ? 'resume' : 'over';
}

/**
 * The chain with index `index` as the entry depot `entry` uses it: the plan, its alternatives, and last of all the
 * entry depot alone. `undefined` where there is no such chain or another depot begins it.
 */
export function chainForEntry(claims: TicketClaims, index: number, entry: string): Chain | undefined {
  const chain =
    index === claims.chains.length && isEntryDepot(claims, entry) ? [entry] : claims.chains[index];
  return chain?.[0] === entry ? chain : undefined;
}

/** Whether `depot` begins the plan or one of its alternatives. */
export function isEntryDepot(claims: TicketClaims, depot: string): boolean {
  return claims.chains.some((chain) => chain[0] === depot);
}

function encodeChains(chains: readonly Chain[]): string {
  const ids = [...new Set(chains.flat())];
  return [
    ids.join('.'),
    ...chains.map((chain) => chain.map((id) => ids.indexOf(id).toString(36)).join('')),
  ].join('~');
}

function decodeChains(text: string): Chain[] | undefined {
  const [idText = '', ...rows] = text.split('~');
  const ids = idText.split('.');
  if (rows.length < 1 || rows.length > 1 + MAX_ALTERNATIVES || !ids.every((id) => DEPOT_ID.test(id)))
    return undefined;
  const chains: Chain[] = [];
  for (const row of rows) {
    const chain = row.split('').map((digit) => ids[Number.parseInt(digit, 36)] ?? '');
    const distinct = new Set(chain).size === chain.length && !chain.includes('');
    if (chain.length < 1 || chain.length > MAX_CHAIN_DEPOTS || !distinct) return undefined;
    chains.push(chain);
  }
  return chains;
}

function readClaims(payload: Record<string, unknown>): TicketClaims | undefined {
  const { j, k, u, a, c, n } = payload;
  const chains = typeof c === 'string' ? decodeChains(c) : undefined;
  const numbers = readNumbers(n);
  const kind = typeof k === 'string' ? KINDS.get(k) : undefined;
  if (typeof j !== 'string' || !JOB_ID.test(j) || !kind || !chains) return undefined;
  if (typeof u !== 'string' || !HASH.test(u) || typeof a !== 'string' || !HASH.test(a) || !numbers)
    return undefined;
  const [lanes, rateKbps, budgetBytes, budgetConnections, issuedAt, startSeconds, lifeSeconds] = numbers;
  return {
    jobId: j,
    kind,
    urlHash: u,
    authorityHash: a,
    chains,
    lanes,
    rateBps: rateKbps * 1000,
    budgetBytes,
    budgetConnections,
    issuedAt,
    lastStart: issuedAt + startSeconds,
    endOfLife: issuedAt + lifeSeconds,
  };
}

type TicketNumbers = readonly [number, number, number, number, number, number, number];

function readNumbers(value: unknown): TicketNumbers | undefined {
  const isTuple = (list: unknown): list is TicketNumbers =>
    Array.isArray(list) &&
    list.length === 7 &&
    list.every((count) => Number.isSafeInteger(count) && count >= 0);
  return isTuple(value) ? value : undefined;
}

function encodeJson(value: object): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));
}

function decodeJson(text: string): Record<string, unknown> | undefined {
  const bytes = decodeBase64url(text);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
