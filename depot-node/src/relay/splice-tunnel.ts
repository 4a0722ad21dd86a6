import type { Socket } from 'node:net';
import type { Kernel } from '../kernel/open-kernel.ts';
import { stopReading } from '../kernel/tcp-handle.ts';
import { resetConnection } from '../sockets/reset.ts';
import { gatherEnds } from './gather-ends.ts';
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

/** Joins two connections in a relay thread; see `Relay.tunnel`. Without descriptors, Node does it. */
export async function spliceTunnel(
  components: SpliceComponents,
  downstream: Socket,
  upstream: Socket,
  options: TunnelOptions,
): Promise<TunnelOutcome> {
  const { silenceMs, halfClosedSilenceMs, signal, onDown, onUp } = options;
  // The thread meets the errors; until then `destroyed` tells.
  for (const end of [downstream, upstream]) end.on('error', () => end.destroy());
  const flushes = await Promise.all([
    flushed(downstream, silenceMs, signal),
    flushed(upstream, silenceMs, signal),
  ]);
  if (flushes.includes('timeout')) return giveUp(downstream, upstream, 'silent');
  const ends = flushes.every((flush) => flush === 'flushed')
    ? await gatherEnds(components, downstream, upstream)
    : undefined;
  if (!ends) return streamTunnel(downstream, upstream, options);

  const headUp = stopReading(downstream);
  const headDown = stopReading(upstream);
  // The duplicates keep both connections alive: Node's own sockets close without a word on the wire.
  ends.handOver();
  const report = await new Promise<FlowReport>((resolve) => {
    const reported = { down: 0, up: 0 };
    const grow = (down: number, up: number) => {
      if (down > reported.down) onDown?.(down - reported.down);
      if (up > reported.up) onUp?.(up - reported.up);
      reported.down = Math.max(reported.down, down);
      reported.up = Math.max(reported.up, up);
    };
    const cancel = ends.thread.start(
      {
        type: 'tunnel',
        downstream: ends.first,
        upstream: ends.second,
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
  const { end, bytesUp, bytesDown } = report;
  if (end === 'complete') return { outcome: 'complete', bytesUp, bytesDown };
  return { outcome: 'broke', reason: end as TunnelBreak, bytesUp, bytesDown };
}

function giveUp(downstream: Socket, upstream: Socket, reason: TunnelBreak): TunnelOutcome {
  resetConnection(downstream);
  resetConnection(upstream);
  return { outcome: 'broke', reason, bytesUp: 0, bytesDown: 0 };
}
