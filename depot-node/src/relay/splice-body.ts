import type { Socket } from 'node:net';
import { resumeReading, stopReading } from '../kernel/tcp-handle.ts';
import { resetConnection } from '../sockets/reset.ts';
import { type GatheredEnds, gatherEnds } from './gather-ends.ts';
import { flushed, resetOnClose, suspendIdleTimeouts } from './prepare-ends.ts';
import type { BodyEnd, BodyOptions, BodyOutcome } from './relay-plane.ts';
import type { SpliceComponents } from './splice-tunnel.ts';
import { streamBody } from './stream-plane.ts';
import type { FlowReport } from './thread-message.ts';

const FAILED_FLUSH = { broke: 'sink-broke', timeout: 'sink-stalled', cancelled: 'cancelled' } as const;

/** Moves a body between two connections in a relay thread; see `Relay.body`. Without descriptors, Node does it. */
export async function spliceBody(
  components: SpliceComponents,
  source: Socket,
  sink: Socket,
  options: BodyOptions,
): Promise<BodyOutcome> {
  const { sizeBytes, signal, stallMs } = options;
  const ignore = () => undefined;
  const restoreTimeouts = suspendIdleTimeouts(source, sink);
  // What breaks is met by the thread, or shows as `destroyed`.
  source.on('error', ignore);
  sink.on('error', ignore);
  try {
    const flush = await flushed(sink, stallMs, signal);
    if (flush !== 'flushed') return { outcome: FAILED_FLUSH[flush], bytes: 0 };
    // Node has it all already, or one of the ends is no more: nothing to hand over.
    const digest = options.watcher?.digest;
    // A digest whose thread has died has none of the bytes before.
    const home = digest && components.threads.homeOf(digest);
    const ends =
      source.readableLength < sizeBytes ? await gatherEnds(components, source, sink, home) : undefined;
    // While a connection moved to another thread, Node may have read all of the body, and more.
    if (ends && source.readableLength >= sizeBytes) ends.release();
    if (!ends || source.readableLength >= sizeBytes) return await streamBody(source, sink, options);
    return await runBody(components, source, sink, options, { ...ends, digestId: home && digest?.id });
  } finally {
    restoreTimeouts();
    source.off('error', ignore);
    sink.off('error', ignore);
  }
}

async function runBody(
  { kernel }: SpliceComponents,
  source: Socket,
  sink: Socket,
  options: BodyOptions,
  ends: GatheredEnds & { readonly digestId: number | undefined },
): Promise<BodyOutcome> {
  const { sizeBytes, signal, silenceMs, stallMs, onBytes, watcher } = options;
  const head = stopReading(source);
  // Not even the death of this process may make a cut body look like an ended one.
  const restoreClose = resetOnClose(kernel, sink);
  let reported = 0;
  const grow = (bytes: number) => {
    if (bytes > reported) onBytes?.(bytes - reported);
    reported = Math.max(reported, bytes);
  };
  const report = await new Promise<FlowReport>((resolve) => {
    const cancel = ends.thread.start(
      {
        type: 'body',
        source: ends.first,
        sink: ends.second,
        head,
        sizeBytes,
        silenceMs,
        stallMs,
        wantsProgress: onBytes !== undefined,
        tagKey: watcher?.tagKey,
        digestId: ends.digestId,
      },
      {
        onProgress: grow,
        onFinished: (finished) => {
          signal.removeEventListener('abort', cancel);
          source.off('close', cancel);
          sink.off('close', cancel);
          resolve(finished);
        },
      },
    );
    signal.addEventListener('abort', cancel);
    // Whoever destroys one of them in the meantime ends the body.
    source.on('close', cancel);
    sink.on('close', cancel);
    if (signal.aborted) cancel();
  });
  const bytes = report.bytesDown + (report.rest?.length ?? 0);
  if (report.segments) watcher?.onTags(report.segments);
  grow(bytes);
  const outcome = outcomeOf(report, source, sink, signal);
  restoreClose();
  if (report.rest && report.rest.length > 0 && !sink.destroyed) sink.write(report.rest);
  if (outcome === 'source-broke') source.destroy();
  else resumeReading(source);
  if (outcome === 'sink-broke') sink.destroy();
  return { outcome, bytes };
}

function outcomeOf({ end }: FlowReport, source: Socket, sink: Socket, signal: AbortSignal): BodyEnd {
  if (end === 'relay-failed') {
    // How far it came is not known: nothing may go on from here.
    resetConnection(source);
    resetConnection(sink);
    return 'sink-broke';
  }
  if (end === 'cancelled' && !signal.aborted) {
    if (sink.destroyed) return 'sink-broke';
    if (source.destroyed) return 'source-broke';
  }
  return end as BodyEnd;
}
