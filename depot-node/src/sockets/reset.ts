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

/** A peer that has not closed its side of a finished connection by then is reset. */
const END_GRACE_MS = 1000;

/**
 * Ends a connection of which nothing more is wanted. A peer that keeps its side open is reset after a while:
 * an end alone would leave the chain behind it standing until the origin has more to send.
 */
export function endConnection(stream: Duplex): void {
  const timer = setTimeout(() => resetConnection(stream), END_GRACE_MS);
  stream.once('close', () => clearTimeout(timer));
  stream.on('error', () => stream.destroy());
  stream.end(() => {
    if (stream.readableEnded) stream.destroy();
  });
  stream.once('end', () => stream.destroy());
  stream.resume();
}

/**
 * Whether the kernel has everything and only the end is on its way. A reset in this moment fails, and Node then never
 * closes the descriptor; there is nothing left that could be cut, either.
 */
function isShuttingDown(socket: Socket): boolean {
  return socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
}
