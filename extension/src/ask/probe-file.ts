import { HEADERS } from '@longhaul/shared';
import { type FileFacts, factsOf } from '../judge/file-facts.ts';
import { BARE_REQUEST } from './bare-request.ts';
import { offeredName } from './offered-name.ts';

/** What is answered to a request for one byte of a file, by an entry depot or by the origin itself. */
export type Probe =
  /** `name`: what the file is offered as; empty or left out where nobody says. */
  | { readonly result: 'file'; readonly file: FileFacts; readonly name?: string }
  /** The depot's own code; empty when an origin, or somebody between, answers. */
  | { readonly result: 'refused'; readonly code: string }
  | { readonly result: 'silent' };

/**
 * Asks an entry depot, or the origin itself, for one byte of a file: for the origin that is one request either way.
 * Never rejects.
 * @param atByte which byte; the first one unless a download is to go on from there.
 */
export async function probeFile(location: string, signal: AbortSignal, atByte = 0): Promise<Probe> {
  try {
    const response = await fetch(location, {
      headers: { range: `bytes=${atByte}-${atByte}` },
      ...BARE_REQUEST,
      signal,
    });
    // An answer of 200 has the whole file behind it.
    await response.body?.cancel();
    const { status, headers } = response;
    const isPart = headers.get('content-range')?.startsWith(`bytes ${atByte}-${atByte}/`) ?? false;
    if (status === 206 && isPart)
      return { result: 'file', file: factsOf(status, headers), name: offeredName(headers) };
    return { result: 'refused', code: headers.get(HEADERS.error) ?? '' };
  } catch {
    return { result: 'silent' };
  }
}

/** Whether anybody answers at the depot itself. The origin learns nothing of it. Never rejects. */
export async function greetDepot(location: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(new URL('/healthz', location), { ...BARE_REQUEST, signal });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
