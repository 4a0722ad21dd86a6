import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Takes the idle timeouts off sockets while a body moves: it has limits of its own, and Node does not see bytes that
 * move in the kernel. The result puts them back.
 */
export function suspendIdleTimeouts(...streams: readonly Duplex[]): () => void {
  const undo = streams.map((stream) => {
    const timeoutMs = stream instanceof Socket ? (stream.timeout ?? 0) : 0;
    if (!(stream instanceof Socket) || timeoutMs === 0) return () => undefined;
    stream.setTimeout(0);
    return () => {
      if (!stream.destroyed) stream.setTimeout(timeoutMs);
    };
  });
  return () => {
    for (const restore of undo) restore();
  };
}
