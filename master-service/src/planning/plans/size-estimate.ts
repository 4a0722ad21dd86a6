import {
  formatBytes,
  type GetOptions,
  type OriginUrl,
  type PlanAnswer,
  type TicketKind,
} from '@longhaul/shared';
import { urlHashOf } from '../../tickets/ticket-issuer.ts';
import type { SizeMemory } from './size-memory.ts';

/** What is known of the size of a file. */
export interface SizeEstimate {
  readonly sizeBytes: number;
  /** What it may be at most, as far as anybody has told: what a request says may be old, or wrong. */
  readonly mostBytes: number;
  readonly source: PlanAnswer['sizeSource'];
  /** Whether a depot has told of the file. */
  readonly fileSeen: boolean;
  /** Whether no part of it can be asked for. */
  readonly isWholeOnly: boolean;
}

/**
 * The size as the request says it, as a depot saw it, or as it is assumed where nobody knows, as of all that
 * comes through a tunnel.
 */
export function estimateSize(
  {
    url,
    options,
    kind,
  }: { readonly url: OriginUrl; readonly options: GetOptions; readonly kind: TicketKind },
  sizes: SizeMemory,
  assumedSizeBytes: number,
): SizeEstimate {
  const urlHash = urlHashOf(url);
  // A tunnel's address is the site's, which may be a page, too.
  const reported = kind === 'tunnel' ? undefined : sizes.recall(urlHash);
  const fileSeen = reported !== undefined;
  const seen = { fileSeen, isWholeOnly: kind !== 'tunnel' && sizes.isWholeOnly(urlHash) };
  const { sizeBytes } = options;
  if (sizeBytes !== undefined)
    return { sizeBytes, mostBytes: Math.max(sizeBytes, reported ?? 0), source: 'option', ...seen };
  const knownBytes = reported ?? assumedSizeBytes;
  const source = fileSeen ? 'reported' : 'assumed';
  return { sizeBytes: knownBytes, mostBytes: knownBytes, source, ...seen };
}

/** The same in a sentence for people. */
export function describeSize({ sizeBytes, source }: SizeEstimate): string {
  const size = formatBytes(sizeBytes);
  if (source === 'option') return `Size ${size}, as the request says.`;
  if (source === 'reported') return `Size ${size}, as a depot last saw the file.`;
  return `Size ${size} is assumed: no depot has told this master of the file.`;
}
