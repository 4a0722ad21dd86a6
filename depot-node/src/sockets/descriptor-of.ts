import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { rawSocketOf } from './reset.ts';

/** What Node keeps behind a socket; not part of its types. */
interface WithHandle {
  readonly _handle?: { readonly fd?: number } | null;
}

/** The descriptor of the TCP connection under a stream, TLS or not; `undefined` once it is closed, or without one. */
export function descriptorOf(stream: Duplex): number | undefined {
  const raw = rawSocketOf(stream);
  if (!(raw instanceof Socket) || raw.destroyed) return undefined;
  const descriptor = (raw as WithHandle)._handle?.fd;
  return descriptor !== undefined && descriptor >= 0 ? descriptor : undefined;
}
