import type { Duplex } from 'node:stream';
import { resetConnection } from '../sockets/reset.ts';
import type { TunnelBreak, TunnelOptions, TunnelOutcome } from './relay-plane.ts';

/**
 * Joins two ends through Node; see `Relay.tunnel`.
 *
 * Backpressure: a side is paused when the other's write buffer is full and resumed on its `drain`; at most one write
 * buffer and one read chunk rest here for each direction.
 */
export function streamTunnel(
  downstream: Duplex,
  upstream: Duplex,
  options: TunnelOptions,
): Promise<TunnelOutcome> {
  return new Promise((resolve) => {
    const read = { up: 0, down: 0 };
    let openDirections = 2;
    let settled = false;
    let silence = setTimeout(() => settle('silent'), options.silenceMs);

    const settle = (reason?: TunnelBreak) => {
      if (settled) return;
      settled = true;
      clearTimeout(silence);
      options.signal.removeEventListener('abort', onAbort);
      // What still waits in a write queue has not been delivered, and is not going to be.
      const bytesUp = Math.max(0, read.up - upstream.writableLength);
      const bytesDown = Math.max(0, read.down - downstream.writableLength);
      if (reason === undefined) {
        resolve({ outcome: 'complete', bytesUp, bytesDown });
        return;
      }
      resetConnection(downstream);
      resetConnection(upstream);
      resolve({ outcome: 'broke', reason, bytesUp, bytesDown });
    };
    const onAbort = () => settle('cancelled');

    const join = (source: Duplex, sink: Duplex, reason: TunnelBreak, onBytes: (bytes: number) => void) => {
      source.once('error', () => settle(reason));
      source.once('close', () => {
        if (!source.readableEnded || !source.writableFinished) settle(reason);
      });
      // What broke before anybody listened makes no event any more.
      if (source.destroyed) settle(reason);
      if (settled) return;
      source.on('data', (chunk: Buffer) => {
        if (settled) return;
        onBytes(chunk.length);
        silence.refresh();
        if (!sink.write(chunk)) source.pause();
      });
      sink.on('drain', () => {
        if (settled) return;
        silence.refresh();
        source.resume();
      });
      // A direction is over when its last byte has been handed to the kernel, not when it has been read.
      sink.once('finish', () => {
        openDirections -= 1;
        clearTimeout(silence);
        if (settled) return;
        silence = setTimeout(() => settle('silent'), options.halfClosedSilenceMs);
        if (openDirections === 0) settle();
      });
      if (source.readableEnded) sink.end();
      else source.once('end', () => sink.end());
      source.resume();
    };

    options.signal.addEventListener('abort', onAbort);
    if (options.signal.aborted) onAbort();
    join(downstream, upstream, 'downstream-broke', (bytes) => {
      read.up += bytes;
    });
    join(upstream, downstream, 'upstream-broke', (bytes) => {
      read.down += bytes;
      options.onDown?.(bytes);
    });
  });
}
