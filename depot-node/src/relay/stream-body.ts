import type { Duplex } from 'node:stream';
import { suspendIdleTimeouts } from './idle-timeouts.ts';
import type { BodyEnd, BodyOptions, BodyOutcome } from './relay-plane.ts';

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
    let timer: NodeJS.Timeout | undefined;

    const restoreTimeouts = suspendIdleTimeouts(source, sink);
    const settle = (outcome: BodyEnd) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
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
      clearTimeout(timer);
      timer = setTimeout(() => finish('source-silent'), silenceMs);
    };
    const waitForSink = () => {
      waitsForSink = true;
      clearTimeout(timer);
      timer = setTimeout(() => settle('sink-stalled'), stallMs);
    };

    const onData = (chunk: Buffer) => {
      const part = chunk.subarray(0, sizeBytes - bytes);
      // The next message belongs to whoever reads the source after this.
      if (part.length < chunk.length) {
        source.pause();
        source.unshift(chunk.subarray(part.length));
      }
      bytes += part.length;
      const hasRoom = sink.write(part, onWritten);
      options.onBytes?.(part.length);
      if (bytes === sizeBytes) {
        finish('complete');
      } else if (hasRoom) {
        timer?.refresh();
      } else {
        source.pause();
        waitForSink();
      }
    };
    const onWritten = () => {
      if (settled) return;
      if (ending && sink.writableLength === 0) settle(ending);
      else if (waitsForSink) timer?.refresh();
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
