import type { Duplex } from 'node:stream';
import { resetConnection } from '../sockets/reset.ts';

export interface RelayOptions {
  /** Silence of both ends after which they are given up. */
  readonly silenceMs: number;
  /** The same once one direction has ended: nobody is there any more to break the silence from that side. */
  readonly halfClosedSilenceMs: number;
  /** Resets both ends. */
  readonly signal: AbortSignal;
  /** Called with each chunk that has been read from the upstream end. */
  readonly onDown?: (bytes: number) => void;
}

export interface RelayOutcome {
  /** `complete`: both directions ended cleanly; `broke`: an end was reset, went silent or was cancelled. */
  readonly outcome: 'complete' | 'broke';
  /** Bytes delivered from the downstream end (client side) to the upstream end, and back. */
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/**
 * Joins two streams until both directions have ended. A half-close travels as a half-close. Whatever breaks one end
 * resets the other, so that a cut body never looks like the end of one.
 *
 * Backpressure: a side is paused when the other's write buffer is full and resumed on its `drain`; at most one write
 * buffer and one read chunk rest here for each direction.
 */
export function relay(downstream: Duplex, upstream: Duplex, options: RelayOptions): Promise<RelayOutcome> {
  return new Promise((resolve) => {
    const counts = { bytesUp: 0, bytesDown: 0 };
    let openDirections = 2;
    let settled = false;
    let silence = setTimeout(() => settle('broke'), options.silenceMs);

    const settle = (outcome: RelayOutcome['outcome']) => {
      if (settled) return;
      settled = true;
      clearTimeout(silence);
      options.signal.removeEventListener('abort', onAbort);
      if (outcome === 'broke') {
        resetConnection(downstream);
        resetConnection(upstream);
      }
      resolve({ outcome, ...counts });
    };
    const onAbort = () => settle('broke');

    const join = (source: Duplex, sink: Duplex, onBytes: (bytes: number) => void) => {
      source.on('data', (chunk: Buffer) => {
        onBytes(chunk.length);
        silence.refresh();
        if (!sink.write(chunk)) source.pause();
      });
      sink.on('drain', () => {
        silence.refresh();
        source.resume();
      });
      // An end that came before the relay makes no event any more.
      if (source.readableEnded) sink.end();
      else source.once('end', () => sink.end());
      // A direction is over when its last byte has been handed to the kernel, not when it has been read.
      sink.once('finish', () => {
        openDirections -= 1;
        clearTimeout(silence);
        silence = setTimeout(() => settle('broke'), options.halfClosedSilenceMs);
        if (openDirections === 0) settle('complete');
      });
      source.once('error', () => settle('broke'));
      source.once('close', () => {
        if (!source.readableEnded || !source.writableFinished) settle('broke');
      });
    };

    options.signal.addEventListener('abort', onAbort);
    if (options.signal.aborted) onAbort();
    join(downstream, upstream, (bytes) => {
      counts.bytesUp += bytes;
    });
    join(upstream, downstream, (bytes) => {
      counts.bytesDown += bytes;
      options.onDown?.(bytes);
    });
  });
}
