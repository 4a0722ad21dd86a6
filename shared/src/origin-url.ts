/**
 * Origin URLs as bytes. Two spellings of one address must give one ticket and a changed byte must give another, so
 * there is exactly one canonical form:
 *
 *     <scheme>://<host>:<port><path>[?<query>]
 *
 * - scheme: `http` or `https`, lower case;
 * - host: lower-case ASCII (IDN as punycode, IPv4 as dotted decimal, IPv6 compressed and in brackets), no final dot;
 * - port: always written, decimal;
 * - path: the raw bytes of the request target, starting with `/`; nothing is decoded, merged or resolved;
 * - query: the raw bytes after the first `?`, absent when there was no `?`.
 *
 * Path and query hold only visible ASCII (0x21-0x7e), the path neither `?` nor `#`.
 */
import { ok, type Result, refuse } from './result.ts';

export type Scheme = 'http' | 'https';

export interface OriginUrl {
  readonly scheme: Scheme;
  /** Canonical host; an IPv6 literal without brackets. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Raw query without `?`; `null` when there is none. */
  readonly query: string | null;
}

export const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/**
 * Names that are canonical as they stand: the URL standard changes nothing about them. The last label begins
 * with a letter, as no number does that would be an IPv4 address; what begins with `xn--` has to be looked
 * at.
 */
const PLAIN_NAME = /^(?:(?!xn--)[a-z0-9_-]+\.)+(?!xn--)[a-z][a-z0-9_-]*$/;
/** A name of DNS has no more (RFC 1035 section 3.1, without what its wire adds). */
const MAX_HOST_CHARS = 253;
/** A letter outside of ASCII is at least one character of a canonical name, and two of UTF-16 at most ... */
const MOST_UNITS_OF_LETTER = 2;
/** ... or four bytes of UTF-8, each of which may be percent-encoded. */
const MOST_ESCAPES_OF_LETTER = 12;
/** What stands before a path, at most, in characters: scheme, name, port. */
const MAX_ORIGIN_CHARS = 16 + MAX_HOST_CHARS * MOST_ESCAPES_OF_LETTER;
/** Longest path plus query, in bytes, that is planned and relayed. */
export const MAX_URL_BYTES = 8192;

const PATH = /^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/;
const QUERY = /^[\x21-\x7e]*$/;

/**
 * Parses what a person pasted or a page linked, as browsers do: spaces around it, line ends and a fragment
 * go, `.` and `..` are resolved, and what may not stand in a URL is encoded. Whoever is redirected does the
 * same, and would ask for another address than the one that a ticket is for.
 */
export function parseOriginUrl(text: string): Result<OriginUrl> {
  const trimmed = text.trim().replace(/[\t\n\r]/g, '');
  const start = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(trimmed);
  if (!start?.[1]) return refuse('bad-url', 'no scheme');
  const rest = trimmed.slice(start[0].length);
  const authorityEnd = rest.search(/[/?#\\]/);
  const authority = authorityEnd < 0 ? rest : rest.slice(0, authorityEnd);
  const base = 'http://h';
  const [target = ''] = new URL(base + rest.slice(authority.length)).href.slice(base.length).split('#', 1);
  return parseOriginParts(start[1], percentEncodeText(authority) + encodeForAll(target));
}

/**
 * What browsers encode in a path and Node, or curl, does not: all leave the encoded form alone, so it is good for
 * whoever is led there. `^` is of the URL standard since 2025, and newer versions of Node encode it now and then;
 * `|` is Chromium's alone, and wget's.
 */
function encodeForAll(target: string): string {
  return target.replace(/^[^?]+/, (path) => path.replaceAll('|', '%7C').replaceAll('^', '%5E'));
}

/**
 * Parses what {@link originHref} or {@link canonicalOriginUrl} has made: the bytes of path and query stay as
 * they are.
 */
export function parseHref(text: string): Result<OriginUrl> {
  const start = /^([a-z]+):\/\//.exec(text);
  return start?.[1] === undefined
    ? refuse('bad-url', 'no scheme')
    : parseOriginParts(start[1], text.slice(start[0].length));
}

/**
 * What people type or paste, with `https://` in front where it begins with a host and has no scheme. Only for
 * fields that people fill in: a host is taken for one by its dot or brackets, which no program should rely
 * on.
 */
export function withHttps(text: string): string {
  const trimmed = text.trim();
  const [authority = ''] = trimmed.split(/[/?#]/, 1);
  const host = authority.replace(/:[0-9]{1,5}$/, '');
  const isName = /^[^\s@:\\[\]]+$/.test(host) && host.slice(1, -1).includes('.');
  return isName || /^\[[0-9A-Fa-f:.]+\]$/.test(host) ? `https://${trimmed}` : trimmed;
}

/** Parses `<authority><path>[?<query>]` for a scheme; the bytes of path and query stay as they are. */
export function parseOriginParts(schemeText: string, rest: string): Result<OriginUrl> {
  const scheme = parseScheme(schemeText);
  if (!scheme.ok) return scheme;
  const authorityEnd = rest.search(/[/?#]/);
  const authorityText = authorityEnd < 0 ? rest : rest.slice(0, authorityEnd);
  const target = authorityEnd < 0 ? '/' : rest.slice(authorityEnd);
  const place = parseAuthority(authorityText, DEFAULT_PORTS[scheme.value]);
  if (!place.ok) return place;
  const queryStart = target.indexOf('?');
  const path = queryStart < 0 ? target : target.slice(0, queryStart);
  const query = queryStart < 0 ? null : target.slice(queryStart + 1);
  return originUrl({ scheme: scheme.value, ...place.value, path: path === '' ? '/' : path, query });
}

/** Checks the parts of an origin URL that arrived one by one (relay requests). The host must be canonical already. */
export function originUrl(parts: OriginUrl): Result<OriginUrl> {
  if (!PATH.test(parts.path)) return refuse('bad-url', 'the path has characters that are not allowed');
  if (parts.query !== null && !QUERY.test(parts.query)) {
    return refuse('bad-url', 'the query has characters that are not allowed');
  }
  if (parts.path.length + (parts.query?.length ?? 0) > MAX_URL_BYTES)
    return refuse('bad-url', 'it is too long');
  return ok(parts);
}

export function parseScheme(text: string): Result<Scheme> {
  const lower = text.toLowerCase();
  return lower === 'http' || lower === 'https' ? ok(lower) : refuse('unknown-scheme', lower.slice(0, 20));
}

export function parsePort(text: string): Result<number> {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? ok(port) : refuse('bad-port');
}

export interface Authority {
  readonly host: string;
  readonly port: number;
}

/** Parses `host[:port]`; without a port, `defaultPort`, and `null` means that the port must be written. */
export function parseAuthority(text: string, defaultPort: number | null): Result<Authority> {
  if (text.includes('@')) return refuse('url-has-credentials');
  const match = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/.exec(text);
  if (!match) return refuse('bad-url', 'the host is not valid');
  const host = canonicalHost(match[1] ?? '');
  if (!host.ok) return host;
  if (match[2] === undefined || match[2] === '') {
    return defaultPort === null ? refuse('bad-port') : ok({ host: host.value, port: defaultPort });
  }
  const port = parsePort(match[2]);
  return port.ok ? ok({ host: host.value, port: port.value }) : port;
}

/**
 * The canonical form of a host as the URL standard reads it: IDN, odd IPv4 spellings and IPv6, in brackets or
 * without, become one form. What is canonical stays as it is.
 */
export function canonicalHost(text: string): Result<string> {
  if (text.length <= MAX_HOST_CHARS && PLAIN_NAME.test(text)) return ok(text);
  if (text === '' || /[/?#@\\\s]/.test(text)) return refuse('bad-url', 'the host is not valid');
  if (text.length > mostCharsOf(text)) return refuse('bad-url', 'the host is too long');
  const isBareIpv6 = text.includes(':') && !text.startsWith('[');
  const parsed = URL.parse(`http://${isBareIpv6 ? `[${text}]` : text}/`);
  if (!parsed || parsed.pathname !== '/' || parsed.port !== '' || parsed.username !== '') {
    return refuse('bad-url', 'the host is not valid');
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host.length > MAX_HOST_CHARS) return refuse('bad-url', 'the host is too long');
  // DNS has no empty labels, and a name that still ends in a dot would be another one when it is read again.
  const hasEmptyLabel = host.split('.').includes('');
  // The wire puts hosts into header lines and query items, where these bytes would end them.
  return hasEmptyLabel || /[^a-z0-9.:_-]/.test(host) ? refuse('bad-url', 'the host is not valid') : ok(host);
}

/**
 * What a name can have been before it is made canonical: who gives more would have a parser work for tens of
 * milliseconds, since IDN costs the square of its letters.
 */
function mostCharsOf(text: string): number {
  return MAX_HOST_CHARS * (/[^\x20-\x7e]/.test(text) ? MOST_UNITS_OF_LETTER : MOST_ESCAPES_OF_LETTER);
}

/** `host:port`, an IPv6 host in brackets. */
export function formatAuthority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The canonical form described at the top of this file: what tickets are bound to. */
export function canonicalOriginUrl(url: OriginUrl): string {
  return `${url.scheme}://${formatAuthority(url.host, url.port)}${originTarget(url)}`;
}

/** The request target at the origin: raw path and query. */
export function originTarget(url: Pick<OriginUrl, 'path' | 'query'>): string {
  return url.query === null ? url.path : `${url.path}?${url.query}`;
}

/** The URL as people write it: the default port left out. */
export function originHref(url: OriginUrl): string {
  return `${url.scheme}://${hostHeader(url)}${originTarget(url)}`;
}

/** The value of the Host header: the port only where it is not the scheme's own. */
export function hostHeader(url: Pick<OriginUrl, 'scheme' | 'host' | 'port'>): string {
  const authority = formatAuthority(url.host, url.port);
  return url.port === DEFAULT_PORTS[url.scheme] ? authority.slice(0, authority.lastIndexOf(':')) : authority;
}

/**
 * Resolves a `Location` value against the URL that answered it, as browsers do; its fragment goes. `value` is
 * as HTTP gives it, each character a byte; those beyond ASCII are encoded as they are, whatever text they
 * stand for.
 */
export function resolveLocation(base: OriginUrl, value: string): Result<OriginUrl> {
  const [address = ''] = percentEncodeBytes(value).split('#', 1);
  if (address.length > MAX_URL_BYTES + MAX_ORIGIN_CHARS) return refuse('bad-url', 'it is too long');
  const resolved = URL.parse(address, originHref(base));
  return resolved ? parseOriginUrl(resolved.href) : refuse('bad-url');
}

/** Percent-encodes spaces, controls and non-ASCII (as UTF-8); everything else stays, `%` included. */
function percentEncodeText(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]+/gu, (run) => encodeURIComponent(run));
}

/** Percent-encodes the bytes above 0x7e of a string whose characters are bytes (a raw request target). */
export function percentEncodeBytes(bytes: string): string {
  return bytes.replace(/[\x7f-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The file name a URL stands for: its last path segment, decoded, without characters that file systems or browsers
 * treat specially; the host where the path ends in `/`.
 */
export function fileNameOf(url: OriginUrl): string {
  const segment = url.path.slice(url.path.lastIndexOf('/') + 1);
  return cleanFileName(decodeLoosely(segment)) ?? cleanFileName(url.host) ?? 'download';
}

/** Longest file name, in bytes of UTF-8, that every usual file system takes. */
const MAX_FILE_NAME_BYTES = 255;

/**
 * A file name without what file systems or people read as something else: path and control characters, marks that turn
 * the direction of reading, dots in front; shortened in front of its ending. `undefined` when nothing is left.
 */
export function cleanFileName(name: string): string | undefined {
  const clean = name
    .toWellFormed()
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[\x00-\x1f\x7f-\x9f"*/:<>?\\|]/g, '_')
    .replace(/^\.+/, '_')
    .trim();
  if (clean === '') return undefined;
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? '';
  const stem = clean.slice(0, clean.length - ending.length);
  return cutUtf8(stem, MAX_FILE_NAME_BYTES - ending.length) + ending;
}

/** The longest beginning of a text that has at most so many bytes in UTF-8. */
function cutUtf8(text: string, maxBytes: number): string {
  // It stops at the first character that does not fit whole.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
