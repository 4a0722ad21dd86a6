import type { Socket } from 'node:net';
import type { Kernel } from '../kernel/open-kernel.ts';
import { stopReading } from '../kernel/tcp-handle.ts';
import { resetConnection } from '../sockets/reset.ts';
import { type GatheredEnds, gatherEnds } from './gather-ends.ts';
import { flushed } from './prepare-ends.ts';
import type { TunnelBreak, TunnelOptions, TunnelOutcome } from './relay-plane.ts';
import type { RelayThreads } from './relay-threads.ts';
import { streamTunnel } from './stream-plane.ts';
import type { FlowReport } from './thread-message.ts';
import type { TlsPlane } from './tls-plane.ts';

export interface SpliceComponents {
  readonly kernel: Kernel;
  readonly threads: Pick<RelayThreads, 'idlest' | 'homeOf'>;
  /** Where the threads end TLS. */
  readonly tls?: TlsPlane | undefined;
}

/**
 * Joins two connections in a relay thread; see `Relay.tunnel`. Without descriptors, Node does it. No frame
 * that waits for the end knows the sockets: they are most of what an idle tunnel would hold.
 */
export function spliceTunnel(
  components: SpliceComponents,
  downstream: Socket,
  upstream: Socket,
  options: TunnelOptions,
): Promise<TunnelOutcome> {
  // The thread meets the errors; until then `destroyed` tells.
  for (const end of [downstream, upstream]) end.on('error', () => end.destroy());
  return takeEnds(components, downstream, upstream, options).then((taken) => {
    if (taken === 'silent') return giveUp(downstream, upstream, 'silent');
    return taken ? runInThread(taken, options) : streamTunnel(downstream, upstream, options);
  });
}

/** What a thread gets of two connections. */
interface TakenEnds extends Pick<GatheredEnds, 'thread' | 'first' | 'second'> {
  /** What Node had already read from each. */
  readonly headUp: Uint8Array;
  readonly headDown: Uint8Array;
}

/** Undefined where they stay with Node. */
async function takeEnds(
  components: SpliceComponents,
  downstream: Socket,
  upstream: Socket,
  { silenceMs, signal }: TunnelOptions,
): Promise<TakenEnds | 'silent' | undefined> {
  const flushes = await Promise.all([downstream, upstream].map((end) => flushed(end, silenceMs, signal)));
  if (flushes.includes('timeout')) return 'silent';
  const isFlushed = flushes.every((flush) => flush === 'flushed');
  const ends = isFlushed ? await gatherEnds(components, downstream, upstream) : undefined;
  if (!ends) return undefined;
  const { thread, first, second, handOver } = ends;
  const [headUp, headDown] = [stopReading(downstream), stopReading(upstream)];
  // The duplicates keep both connections alive: Node's own sockets close without a word on the wire.
  handOver();
  return { thread, first, second, headUp, headDown };
}

async function runInThread(
  { thread, first, second, headUp, headDown }: TakenEnds,
  { silenceMs, halfClosedSilenceMs, signal, onDown, onUp }: TunnelOptions,
): Promise<TunnelOutcome> {
  const { end, bytesUp, bytesDown } = await new Promise<FlowReport>((resolve) => {
    const reported = { down: 0, up: 0 };
    const grow = (down: number, up: number) => {
      if (down > reported.down) onDown?.(down - reported.down);
      if (up > reported.up) onUp?.(up - reported.up);
      reported.down = Math.max(reported.down, down);
      reported.up = Math.max(reported.up, up);
    };
    const cancel = thread.start(
      {
        type: 'tunnel',
        downstream: first,
        upstream: second,
        headUp,
        headDown,
        silenceMs,
        halfClosedSilenceMs,
        wantsProgress: onDown !== undefined || onUp !== undefined,
      },
      {
        onProgress: grow,
        onFinished: (finished) => {
          signal.removeEventListener('abort', cancel);
          grow(finished.bytesDown, finished.bytesUp);
          resolve(finished);
        },
      },
    );
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
  });
  if (end === 'complete') return { outcome: 'complete', bytesUp, bytesDown };
  return { outcome: 'broke', reason: end as TunnelBreak, bytesUp, bytesDown };
}

function giveUp(downstream: Socket, upstream: Socket, reason: TunnelBreak): TunnelOutcome {
  resetConnection(downstream);
  resetConnection(upstream);
  return { outcome: 'broke', reason, bytesUp: 0, bytesDown: 0 };
}
