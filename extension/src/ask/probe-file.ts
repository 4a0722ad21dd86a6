import { HEADERS, isRelayTarget } from '@longhaul/shared';
import { type FileFacts, factsOf } from '../judge/file-facts.ts';
import { isPrivateHost } from '../judge/private-host.ts';
import { type Left, left, sayCode } from '../judge/why-left.ts';
import { parseUrl } from '../parse-url.ts';
import { BARE_REQUEST } from './bare-request.ts';
import { offeredName } from './offered-name.ts';

/** What is answered to a request for one byte of a file, by an entry depot or by the origin itself. */
export type Probe =
  /** `name`: what the file is offered as; empty or left out where nobody says. */
  | { readonly result: 'file'; readonly file: FileFacts; readonly name?: string }
  /** The depot's own code; empty when an origin, or somebody between, answers. */
  | { readonly result: 'refused'; readonly code: string }
  | { readonly result: 'silent' };

/** Why a download is left to the browser whose entry depot does not show the file. */
export function leftByDepot(probe: Exclude<Probe, { result: 'file' }>): Left {
  if (probe.result === 'silent') return left('depot-silent');
  return left('depot-refused', sayCode(probe.code));
}

/**
 * Of a name with several addresses Firefox tries none that has failed lately, and so may know only one that
 * is gone: a question at once finds no other one, but one a tenth of a second later does (measured).
 */
export const AGAIN_AFTER_MS = 250;
/**
 * It keeps such a list for each kind of look-up, and which one it goes by changes: each of two may know only
 * what is gone (seen in its log).
 */
export const MOST_TRIES = 4;

/**
 * Asks an entry depot, or the origin itself, for one byte of a file: for the origin that is one request
 * either way, unless connections break. Never rejects.
 * @param atByte which byte; the first one unless a download is to go on from there.
 * @param version the headers that name the only version wanted; of a weak tag no origin shows a byte then.
 */
export async function probeFile(
  location: string,
  signal: AbortSignal,
  atByte = 0,
  version: Readonly<Record<string, string>> = {},
): Promise<Probe> {
  // The origin may lead on to the file, as it led the browser; a depot may not.
  const isOfDepot = isRelayTarget(location);
  // Of a redirect no header can be read here, and so not why a depot would lead to the origin.
  const own: Record<string, string> = isOfDepot ? { [HEADERS.probe]: '1' } : {};
  const headers = { range: `bytes=${atByte}-${atByte}`, ...version, ...own };
  const response = await ask(location, signal, headers, isOfDepot ? 'manual' : 'follow');
  if (!response) return { result: 'silent' };
  const { status, headers: answered } = response;
  if (response.redirected && !mayLead(location, response.url)) return { result: 'refused', code: '' };
  const isPart = answered.get('content-range')?.startsWith(`bytes ${atByte}-${atByte}/`) ?? false;
  if (status === 206 && isPart)
    return { result: 'file', file: factsOf(status, answered), name: offeredName(answered) };
  return { result: 'refused', code: answered.get(HEADERS.error) ?? '' };
}

/** Whether an origin may lead there: to what is as public, and as encrypted, as itself. */
function mayLead(from: string, to: string): boolean {
  const [asked, led] = [parseUrl(from), parseUrl(to)];
  if (!asked || !led) return false;
  const isPublic = !isPrivateHost(led.host) || isPrivateHost(asked.host);
  return isPublic && (led.scheme === 'https' || asked.scheme === 'http');
}

/** Whether anybody answers at the depot itself. The origin learns nothing of it. Never rejects. */
export async function greetDepot(location: string, signal: AbortSignal): Promise<boolean> {
  return (await whoIsAt(location, signal)) !== undefined;
}

/**
 * The id of the depot that answers at this address, empty where it does not say; `undefined` where nobody
 * does. Never rejects.
 */
export async function whoIsAt(location: string, signal: AbortSignal): Promise<string | undefined> {
  const response = await ask(new URL('/healthz', location), signal);
  return response?.ok ? (response.headers.get(HEADERS.depot) ?? '') : undefined;
}

/** The head of an answer; asks again where the connection breaks before the time is up. Redirects are answers, too. */
async function ask(
  place: string | URL,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
  redirect: RequestRedirect = 'manual',
): Promise<Response | undefined> {
  const request = { headers, ...BARE_REQUEST, redirect, signal } as const;
  let response = await fetch(place, request).catch(() => undefined);
  for (let tries = 1; !response && !signal.aborted && tries < MOST_TRIES; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
    response = await fetch(place, request).catch(() => undefined);
  }
  // An answer of 200 has the whole file behind it.
  await response?.body?.cancel().catch(() => undefined);
  return response;
}
