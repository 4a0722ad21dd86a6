/**
 * The ticket: the signed short form of a plan, a JWS (RFC 7515, compact) with EdDSA (RFC 8037) and short
 * claims.
 *
 *     header  {"alg":"EdDSA","typ":"lh1","kid":"<key id>"}
 *     claims  {"j":job id,"k":"g"|"s"|"t","u":hashes,"c":chains,"n":numbers,"g":entry group}
 *     numbers "<lanes>.<budget bytes>.<budget connections>.<issued at>.<seconds to start>.<seconds of life>", base 36
 *
 * Hashes are the first 16 bytes of SHA-256, base64url: of the canonical origin URL, then of `host:port`.
 * Chains are one string, `<ids joined by .>~<plan>~<alternative>...`, where a chain is its promise, then one
 * digit for each depot: its index in the ids, entry depot first. A promise is kbit/s, milliseconds and loss
 * in 1e-5, in 5, 2 and 3 digits of base64url. An entry group is left out where there is none. So a ticket for
 * three hops with two alternatives stays within 512 characters.
 *
 * Signing, verifying and hashing are passed in: this file runs wherever the web platform does.
 */
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { type Chain, isSameChain } from './chain.ts';
import { type ChainPromise, decodePromise, encodePromise, PROMISE_CHARS } from './chain-promise.ts';
import { canonicalOriginUrl, formatAuthority, type OriginUrl } from './origin-url.ts';
import { ok, type Result, refuse } from './result.ts';
import {
  CLOCK_SKEW_SECONDS,
  DEPOT_ID,
  isLaneCount,
  JOB_ID,
  MAX_ALTERNATIVES,
  MAX_CHAIN_DEPOTS,
  MAX_TICKET_CHARS,
  PROTOCOL_VERSION,
} from './wire/protocol.ts';

/**
 * `get`: a download by cascade; `stepwise`: one by stepwise signalling, and everything that `get` is; `tunnel`: bytes
 * between a client and an origin.
 */
export type TicketKind = 'get' | 'stepwise' | 'tunnel';

const KIND_LETTERS: Readonly<Record<TicketKind, string>> = { get: 'g', stepwise: 's', tunnel: 't' };
const KINDS = new Map(Object.entries(KIND_LETTERS).map(([kind, letter]) => [letter, kind as TicketKind]));

export interface TicketClaims {
  readonly jobId: string;
  readonly kind: TicketKind;
  readonly urlHash: string;
  readonly authorityHash: string;
  /** The plan, then its alternatives; never empty. */
  readonly chains: readonly Chain[];
  /** One promise for each of `chains` that was planned, in their order. */
  readonly promises: readonly ChainPromise[];
  /** The depots of this entry group are all entry depots of this ticket, also those that no chain begins with. */
  readonly group?: string | undefined;
  /** Connections that the entry depot may fetch the body over at once, 1 to 8; more than one for elephants. */
  readonly lanes: number;
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

const ENCODER = new TextEncoder();
/** Throws for what is no UTF-8. */
const DECODER = new TextDecoder('utf-8', { fatal: true });
const TICKET_TYPE = `lh${PROTOCOL_VERSION}`;
const HASH_BYTES = 16;
const HASH_CHARS = 22;
const HASHES = /^[A-Za-z0-9_-]{44}$/;
const KEY_ID = /^[A-Za-z0-9_-]{1,16}$/;

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
    u: claims.urlHash + claims.authorityHash,
    c: encodeChains(claims),
    n: encodeNumbers([
      claims.lanes,
      claims.budgetBytes,
      claims.budgetConnections,
      claims.issuedAt,
      claims.lastStart - claims.issuedAt,
      claims.endOfLife - claims.issuedAt,
    ]),
    ...(claims.group === undefined ? {} : { g: claims.group }),
  };
  const signed = `${encodeJson(header)}.${encodeJson(payload)}`;
  return `${signed}.${encodeBase64url(sign(ENCODER.encode(signed)))}`;
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
  const signedBytes = ENCODER.encode(`${headerText}.${payloadText}`);
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
 * The chains that begin at the entry depot `entry`, each once, with the index that it asks the next depot by:
 * the plan and its alternatives, and last of all the entry depot alone.
 */
export function chainsForEntry(
  claims: TicketClaims,
  entry: string,
): { readonly chainIndex: number; readonly chain: Chain }[] {
  const own = claims.chains.flatMap((chain, chainIndex) =>
    chain[0] === entry ? [{ chainIndex, chain }] : [],
  );
  if (own.length > 0) own.push({ chainIndex: claims.chains.length, chain: [entry] });
  const isFirst = ({ chain }: { chain: Chain }, index: number) =>
    own.findIndex((other) => isSameChain(other.chain, chain)) === index;
  return own.filter(isFirst);
}

/**
 * The claims as the depot `depot` of the entry group `group` has them: where the ticket is the group's and no
 * chain begins here, this depot alone is one, which nothing is promised of.
 */
export function claimsInGroup(claims: TicketClaims, depot: string, group: string | undefined): TicketClaims {
  const isOurs = group !== undefined && claims.group === group;
  if (!isOurs || isEntryDepot(claims, depot)) return claims;
  return { ...claims, chains: [...claims.chains, [depot]] };
}

/** Whether `depot` begins the plan or one of its alternatives. */
export function isEntryDepot(claims: TicketClaims, depot: string): boolean {
  return claims.chains.some((chain) => chain[0] === depot);
}

function encodeChains({ chains, promises }: Pick<TicketClaims, 'chains' | 'promises'>): string {
  const ids = [...new Set(chains.flat())];
  return [
    ids.join('.'),
    ...chains.map((chain, index) => {
      const places = chain.map((id) => ids.indexOf(id).toString(36));
      const promise = promises[index];
      if (!promise) throw new Error('a chain has no promise');
      return [encodePromise(promise), ...places].join('');
    }),
  ].join('~');
}

function decodeChains(text: string): Pick<TicketClaims, 'chains' | 'promises'> | undefined {
  const [idText = '', ...rows] = text.split('~');
  const ids = idText.split('.');
  if (rows.length < 1 || rows.length > 1 + MAX_ALTERNATIVES || !ids.every((id) => DEPOT_ID.test(id)))
    return undefined;
  const chains: Chain[] = [];
  const promises: ChainPromise[] = [];
  for (const row of rows) {
    const promise = decodePromise(row.slice(0, PROMISE_CHARS));
    const places = row.slice(PROMISE_CHARS).split('');
    const chain = places.map((digit) => ids[Number.parseInt(digit, 36)] ?? '');
    const distinct = new Set(chain).size === chain.length && !chain.includes('');
    if (!promise || chain.length < 1 || chain.length > MAX_CHAIN_DEPOTS || !distinct) return undefined;
    chains.push(chain);
    promises.push(promise);
  }
  return { chains, promises };
}

function readClaims(payload: Record<string, unknown>): TicketClaims | undefined {
  const { j, k, u, c, n, g } = payload;
  const chains = typeof c === 'string' ? decodeChains(c) : undefined;
  const numbers = typeof n === 'string' ? decodeNumbers(n) : undefined;
  const kind = typeof k === 'string' ? KINDS.get(k) : undefined;
  if (typeof j !== 'string' || !JOB_ID.test(j) || !kind || !chains) return undefined;
  if (typeof u !== 'string' || !HASHES.test(u) || !numbers) return undefined;
  const [lanes, budgetBytes, budgetConnections, issuedAt, startSeconds, lifeSeconds] = numbers;
  if (!isLaneCount(lanes)) return undefined;
  if (g !== undefined && (typeof g !== 'string' || !DEPOT_ID.test(g))) return undefined;
  return {
    jobId: j,
    kind,
    urlHash: u.slice(0, HASH_CHARS),
    authorityHash: u.slice(HASH_CHARS),
    ...chains,
    ...(g === undefined ? {} : { group: g }),
    lanes,
    budgetBytes,
    budgetConnections,
    issuedAt,
    lastStart: issuedAt + startSeconds,
    endOfLife: issuedAt + lifeSeconds,
  };
}

type TicketNumbers = readonly [number, number, number, number, number, number];

function encodeNumbers(numbers: TicketNumbers): string {
  return numbers.map((number) => number.toString(36)).join('.');
}

function decodeNumbers(text: string): TicketNumbers | undefined {
  const isTuple = (list: number[]): list is [number, number, number, number, number, number] =>
    list.length === 6 && list.every((count) => Number.isSafeInteger(count));
  const numbers = text
    .split('.')
    .map((digits) => (/^[0-9a-z]{1,11}$/.test(digits) ? Number.parseInt(digits, 36) : Number.NaN));
  return isTuple(numbers) ? numbers : undefined;
}

function encodeJson(value: object): string {
  return encodeBase64url(ENCODER.encode(JSON.stringify(value)));
}

function decodeJson(text: string): Record<string, unknown> | undefined {
  const bytes = decodeBase64url(text);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(DECODER.decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
