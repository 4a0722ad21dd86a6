import type { Duplex } from 'node:stream';
import { resetConnection } from '../sockets/reset.ts';
import { SilenceTimer } from '../sockets/silence-timer.ts';
import { suspendIdleTimeouts } from './prepare-ends.ts';
import type {
  BodyEnd,
  BodyOptions,
  BodyOutcome,
  RelayPlane,
  TunnelBreak,
  TunnelOptions,
  TunnelOutcome,
} from './relay-plane.ts';

/** Moves bytes through Node: on every system, over TLS, and where the kernel's way is not worth its set-up. */
export const streamPlane: RelayPlane = { kind: 'streams', tunnel: streamTunnel, body: streamBody };

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
    /** Whether the upstream broke behind its own end: what the client still sends goes nowhere. */
    let isUpstreamGone = false;
    const onSilence = () => {
      // A client that leaves bytes waiting has as long as while both directions are open; just written, any
      // bytes seem to wait.
      const restMs = downstream.writableLength > 0 ? lastMoveMs + options.silenceMs - performance.now() : 0;
      if (restMs > 0) return waitFor(restMs);
      if (!upstream.readableEnded || !downstream.writableFinished) return settle('silent');
      // A client that keeps its side open may only read late: a reset would take from it what still waits in
      // the kernel.
      settle();
      // What the client has not ended must not look whole.
      resetConnection(upstream);
      // Bytes of it that are left unread would make its connection end by a reset.
      downstream.resume();
      setImmediate(() => downstream.destroy());
    };
    let lastMoveMs = performance.now();
    let limitMs = options.silenceMs;
    const silence = new SilenceTimer();
    const waitFor = (nextMs: number) => {
      limitMs = nextMs;
      silence.start(limitMs, onSilence);
    };
    waitFor(limitMs);
    /** Begins to wait anew. */
    const awaitMove = () => {
      lastMoveMs = performance.now();
      const nextMs = openDirections === 2 ? options.silenceMs : options.halfClosedSilenceMs;
      if (nextMs === limitMs) silence.touch();
      else waitFor(nextMs);
    };
    const onWritten = () => {
      if (!settled) awaitMove();
    };

    const settle = (reason?: TunnelBreak) => {
      if (settled) return;
      settled = true;
      silence.stop();
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

    const endOne = () => {
      openDirections -= 1;
      if (settled) return;
      awaitMove();
      if (openDirections === 0) settle();
    };
    const onBroken = (source: Duplex, reason: TunnelBreak) => {
      if (source !== upstream || !upstream.readableEnded) return settle(reason);
      if (settled || isUpstreamGone || upstream.writableFinished) return;
      isUpstreamGone = true;
      if (downstream.readableEnded) return endOne();
      downstream.once('end', endOne);
      // Unread it would make the client's connection end by a reset.
      downstream.resume();
    };

    const join = (source: Duplex, sink: Duplex, reason: TunnelBreak, onBytes: (bytes: number) => void) => {
      source.once('error', () => onBroken(source, reason));
      source.once('close', () => {
        if (!source.readableEnded || !source.writableFinished) onBroken(source, reason);
      });
      // What broke before anybody listened makes no event any more.
      if (source.destroyed) settle(reason);
      if (settled) return;
      source.on('data', (chunk: Buffer) => {
        if (settled || (isUpstreamGone && source === downstream)) return;
        onBytes(chunk.length);
        if (!sink.write(chunk, onWritten)) source.pause();
        awaitMove();
      });
      sink.on('drain', () => {
        if (!settled) source.resume();
      });
      // A direction is over when its last byte has been handed to the kernel, not when it has been read.
      sink.once('finish', endOne);
      if (source.readableEnded) sink.end();
      else source.once('end', () => sink.end());
      source.resume();
    };

    options.signal.addEventListener('abort', onAbort);
    if (options.signal.aborted) onAbort();
    join(downstream, upstream, 'downstream-broke', (bytes) => {
      read.up += bytes;
      options.onUp?.(bytes);
    });
    join(upstream, downstream, 'upstream-broke', (bytes) => {
      read.down += bytes;
      options.onDown?.(bytes);
    });
  });
}

/**
 * Moves a body of known size through Node; see `Relay.body`.
 *
 * Backpressure: the source is paused when the sink's write buffer is full and resumed on its `drain`.
 */
export function streamBody(source: Duplex, sink: Duplex, options: BodyOptions): Promise<BodyOutcome> {
  const { sizeBytes, signal, silenceMs, stallMs } = options;
  return new Promise((resolve) => {
    let bytes = 0;
    let ending: BodyEnd | undefined;
    let settled = false;
    let waitsForSink = false;
    const silence = new SilenceTimer();

    const restoreTimeouts = suspendIdleTimeouts(source, sink);
    const settle = (outcome: BodyEnd) => {
      if (settled) return;
      settled = true;
      silence.stop();
      source.pause();
      source
        .off('data', onData)
        .off('end', onSourceEnd)
        .off('error', onSourceBroke)
        .off('close', onSourceBroke);
      sink.off('drain', onDrain).off('error', onSinkBroke).off('close', onSinkBroke);
      signal.removeEventListener('abort', onAbort);
      restoreTimeouts();
      resolve({ outcome, bytes });
    };
    /** Nothing more will come: what has come must still reach the sink's kernel. */
    const finish = (outcome: BodyEnd) => {
      if (ending || settled) return;
      ending = outcome;
      source.pause();
      source.off('data', onData);
      if (bytes === 0 || sink.writableLength === 0) settle(outcome);
      else waitForSink();
    };
    const waitForSource = () => {
      waitsForSink = false;
      silence.start(silenceMs, () => finish('source-silent'));
    };
    const waitForSink = () => {
      waitsForSink = true;
      silence.start(stallMs, () => settle('sink-stalled'));
    };

    const onData = (chunk: Buffer) => {
      const part = chunk.subarray(0, sizeBytes - bytes);
      // The next message belongs to whoever reads the source after this.
      if (part.length < chunk.length) {
        source.pause();
        source.unshift(chunk.subarray(part.length));
      }
      bytes += part.length;
      options.watcher?.onChunk(part);
      const hasRoom = sink.write(part, onWritten);
      options.onBytes?.(part.length);
      if (bytes === sizeBytes) {
        finish('complete');
      } else if (hasRoom) {
        silence.touch();
      } else {
        source.pause();
        waitForSink();
      }
    };
    const onWritten = () => {
      if (settled) return;
      if (ending && sink.writableLength === 0) settle(ending);
      else if (waitsForSink) silence.touch();
    };
    const onDrain = () => {
      if (ending || settled) return;
      waitForSource();
      source.resume();
    };
    const onSourceEnd = () => finish('source-ended');
    const onSourceBroke = () => finish(source.readableEnded ? 'source-ended' : 'source-broke');
    const onSinkBroke = () => settle('sink-broke');
    const onAbort = () => settle('cancelled');

    if (signal.aborted) return settle('cancelled');
    if (sink.destroyed || sink.writableEnded) return settle('sink-broke');
    if (sizeBytes === 0) return settle('complete');
    if (source.readableEnded) return settle('source-ended');
    if (source.destroyed) return settle('source-broke');
    signal.addEventListener('abort', onAbort);
    source.on('end', onSourceEnd).on('error', onSourceBroke).on('close', onSourceBroke);
    sink.on('drain', onDrain).on('error', onSinkBroke).on('close', onSinkBroke);
    source.on('data', onData);
    waitForSource();
    source.resume();
  });
}
