/**
 * Download requests: client -> master.
 *
 *     /get/[~size=...,via=d3+d1,avoid=d2,lanes=4,signalling=stepwise/]<scheme>/<host>[:port]/<path>[?<query>]
 *     /get?url=<percent-encoded URL>[&size=...]      (what a plain HTML form sends: https:// may be left out, and the
 *                                                     size may be written as 700 MB)
 */
import {
  hostHeader,
  type OriginUrl,
  originHref,
  originTarget,
  parseOriginParts,
  parseOriginUrl,
  percentEncodeBytes,
  withHttps,
} from '../origin-url.ts';
import { ok, type Result, refuse } from '../result.ts';
import { parseBytes } from '../units.ts';
import { DEPOT_ID, isLaneCount, MAX_LISTED_DEPOTS } from './protocol.ts';

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
  return rawTarget.startsWith('/get?')
    ? parseGetForm(rawTarget.slice('/get?'.length))
    : parseGetPath(rawTarget);
}

/** The same of a path alone: no form is read, of which the add-on would carry all. */
export function parseGetPath(rawTarget: string): Result<GetRequest> {
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

/**
 * An address in a form that has a query of its own, as it stands, and something behind it: whose that is
 * nobody knows.
 */
const UNENCODED = /(?:^|&)url=[^&]*[?][^&]*&/;

function parseGetForm(query: string): Result<GetRequest> {
  if (UNENCODED.test(query)) return refuse('bad-options', 'percent-encode the url');
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

function isDepotList(ids: readonly string[]): boolean {
  const fits = ids.length <= MAX_LISTED_DEPOTS && ids.every((id) => DEPOT_ID.test(id));
  return fits && new Set(ids).size === ids.length;
}

/**
 * Fragment of a `direct` answer: the add-on lets such a download pass; no server ever sees it. Browsers alone
 * get it (`mayHaveAddOn`).
 */
export const DIRECT_FRAGMENT = '#lh-direct';

/** How the addresses of pages end; those of files that a browser saves have an extension of another kind. */
const PAGE_PATH = /\/(?:[^/.]*|[^/]*\.(?:[sx]?html?|php|aspx?|jsp|cgi))$/i;

/**
 * Whether an address is as those of pages are. The add-on leads none of these by its address alone, so that who
 * is shown the page needs no mark, which would take the place of the fragment by which he came.
 */
export function isPageAddress({ path }: OriginUrl): boolean {
  return PAGE_PATH.test(path);
}

/** The origin itself, for a client that is led there; its add-on knows by the fragment that it need not ask again. */
export function directLocation(url: OriginUrl): string {
  return `${originHref(url)}${DIRECT_FRAGMENT}`;
}
