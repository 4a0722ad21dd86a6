import { BARE_REQUEST } from './bare-request.ts';

/** What the entry depot says about the file. */
export interface Probe {
  readonly totalBytes: number | undefined;
  /** Media type without parameters, lower case; empty when the depot gives none. */
  readonly mime: string;
}

/**
 * Asks the entry depot for one byte of the file.
 * @returns `undefined` unless the depot answers 206, or 200, in time: then the chain does not work for this file.
 */
export async function probeDepot(location: string, signal: AbortSignal): Promise<Probe | undefined> {
  try {
    const response = await fetch(location, {
      headers: { range: 'bytes=0-0' },
      ...BARE_REQUEST,
      signal,
    });
    // An answer of 200 has the whole file behind it.
    await response.body?.cancel();
    if (response.status !== 200 && response.status !== 206) return undefined;
    return { totalBytes: totalBytesOf(response), mime: essence(response.headers.get('content-type') ?? '') };
  } catch {
    return undefined;
  }
}

function totalBytesOf(response: Response): number | undefined {
  if (response.status === 206) {
    const total = /^bytes 0-0\/([0-9]{1,15})$/.exec(response.headers.get('content-range') ?? '');
    return total ? Number(total[1]) : undefined;
  }
  const length = response.headers.get('content-length') ?? '';
  return /^[0-9]{1,15}$/.test(length) ? Number(length) : undefined;
}

/** A media type without its parameters, in lower case. */
export function essence(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
