import type { Socket } from 'node:net';
import type { Kernel } from '../kernel/open-kernel.ts';
import { stopReading } from '../kernel/tcp-handle.ts';
import { resetConnection } from '../sockets/reset.ts';
import { duplicatePair, flushed } from './prepare-ends.ts';
import type { TunnelBreak, TunnelOptions, TunnelOutcome } from './relay-plane.ts';
import type { RelayThreads } from './relay-threads.ts';
import { streamTunnel } from './stream-plane.ts';
import type { FlowReport } from './thread-message.ts';

export interface SpliceComponents {
  readonly kernel: Kernel;
  readonly threads: Pick<RelayThreads, 'isAlive' | 'start'>;
}

/**
 * Joins two plain TCP sockets in a relay thread; see `Relay.tunnel`. Without descriptors, Node does it. No frame that waits
 * for the end knows the sockets: they are most of what an idle tunnel would hold.
 */
export function spliceTunnel(
  { kernel, threads }: SpliceComponents,
  downstream: Socket,
  upstream: Socket,
  options: TunnelOptions,
): Promise<TunnelOutcome> {
  // The thread meets the errors; until then `destroyed` tells.
  for (const end of [downstream, upstream]) end.on('error', () => end.destroy());
  const { silenceMs, signal } = options;
  const flushes = [downstream, upstream].map((end) => flushed(end, silenceMs, signal));
  return Promise.all(flushes).then((results) => {
    if (results.includes('timeout')) return giveUp(downstream, upstream, 'silent');
    const taken = results.every((result) => result === 'flushed') && threads.isAlive();
    const pair = taken && duplicatePair(kernel, downstream, upstream);
    if (!pair) return streamTunnel(downstream, upstream, options);
    const headUp = stopReading(downstream);
    const headDown = stopReading(upstream);
    // The duplicates keep both connections alive: Node's own sockets close without a word on the wire.
    downstream.destroy();
    upstream.destroy();
    return runInThread(threads, { ...pair, headUp, headDown }, options);
  });
}

interface TakenEnds {
  /** Descriptors of the downstream end and of the upstream end. */
  readonly first: number;
  readonly second: number;
  /** What Node had already read from each. */
  readonly headUp: Uint8Array;
  readonly headDown: Uint8Array;
}

async function runInThread(
  threads: SpliceComponents['threads'],
  { first, second, headUp, headDown }: TakenEnds,
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
    const cancel = threads.start(
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
