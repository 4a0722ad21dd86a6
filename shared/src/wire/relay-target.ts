/** Relay requests: client -> depot. */
import {
  type Authority,
  canonicalHost,
  formatAuthority,
  type OriginUrl,
  originUrl,
  parsePort,
  parseScheme,
  percentEncodeBytes,
} from '../origin-url.ts';
import { ok, type Result, refuse } from '../result.ts';
import { DEPOT_ID, MAX_TICKET_CHARS } from './protocol.ts';

/** Three base64url parts, the last of the 86 characters of an Ed25519 signature. */
const TICKET = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/;

export function looksLikeTicket(text: string): boolean {
  return TICKET.test(text);
}

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

/**
 * `/<path>/<file>?<ticket>`, with `Longhaul-Proof`: the successor asks for what is held for it (stepwise
 * signalling).
 */
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
 * The target of a request without scheme and authority, which clients may write before it (RFC 9112 section
 * 3.2.2). Neither leads anywhere: the request is to whoever has got it, as with any `Host`, and what it may
 * fetch is for its ticket to say.
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
