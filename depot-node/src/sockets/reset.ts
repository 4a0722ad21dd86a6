import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The TCP socket under a TLS socket, which alone can send a reset. */
const rawSockets = new WeakMap<Duplex, Socket>();

/** Remembers that `secure` runs over `raw`. */
export function rememberRawSocket(secure: Duplex, raw: Duplex): void {
  const bottom = rawSockets.get(raw) ?? raw;
  if (bottom instanceof Socket) rawSockets.set(secure, bottom);
}

/** The TCP socket under a TLS socket; any other stream is its own. */
export function rawSocketOf(stream: Duplex): Duplex {
  return rawSockets.get(stream) ?? stream;
}

/**
 * Ends a connection with a reset, so that the peer can never take what it has for the whole. Everything not yet sent
 * is dropped.
 */
export function resetConnection(stream: Duplex): void {
  const raw = rawSocketOf(stream);
  if (raw instanceof Socket && !raw.destroyed && !isShuttingDown(raw)) raw.resetAndDestroy();
  raw.destroy();
  stream.destroy();
}

/**
 * Whether the kernel has everything and only the end is on its way. A reset in this moment fails, and Node then never
 * closes the descriptor; there is nothing left that could be cut, either.
 */
function isShuttingDown(socket: Socket): boolean {
  return socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
}
