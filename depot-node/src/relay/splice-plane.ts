import { availableParallelism } from 'node:os';
import { openKernel } from '../kernel/open-kernel.ts';
import { isPlainTcp } from '../kernel/tcp-handle.ts';
import type { ChoosingRelay, RelayPlane } from './relay-plane.ts';
import { startRelayThreads } from './relay-threads.ts';
import { spliceBody } from './splice-body.ts';
import { spliceTunnel } from './splice-tunnel.ts';
import { streamPlane } from './stream-plane.ts';

/** Threads where nobody says how many: each costs some MB, and eight cores move what network cards carry. */
const MOST_DEFAULT_THREADS = 8;

export interface SplicePlane extends RelayPlane, Pick<ChoosingRelay, 'openDigest'> {
  /** Whether flows are still spliced; after a crash of all threads Node moves them. */
  readonly isAlive: () => boolean;
  /** Cancels what runs and ends the threads. */
  readonly close: () => Promise<void>;
}

export type OpenedSplicePlane =
  | { readonly ok: true; readonly plane: SplicePlane }
  | { readonly ok: false; readonly reason: string };

export interface SplicePlaneOptions {
  /** Threads that move the bytes; as many as there are cores, within reason, where it is left out. */
  readonly threads?: number | undefined;
  /** Called for each thread that dies by itself; its flows have been reset. Without any, later ones go through Node. */
  readonly onCrash?: (cause: unknown) => void;
}

/** Starts the plane that moves bytes inside the kernel, or says why this machine cannot. */
export async function openSplicePlane(options: SplicePlaneOptions = {}): Promise<OpenedSplicePlane> {
  const access = openKernel();
  if (!access.kernel) return { ok: false, reason: access.reason };
  const { kernel } = access;
  try {
    const threads = await startRelayThreads({
      kernel,
      count: options.threads ?? Math.min(availableParallelism(), MOST_DEFAULT_THREADS),
      onCrash: options.onCrash ?? (() => undefined),
    });
    const components = { kernel, threads };
    return {
      ok: true,
      plane: {
        kind: 'splice',
        tunnel: (downstream, upstream, tunnelOptions) =>
          isPlainTcp(downstream) && isPlainTcp(upstream) && !tunnelOptions.signal.aborted
            ? spliceTunnel(components, downstream, upstream, tunnelOptions)
            : streamPlane.tunnel(downstream, upstream, tunnelOptions),
        body: (source, sink, bodyOptions) =>
          isPlainTcp(source) && isPlainTcp(sink) && !bodyOptions.signal.aborted
            ? spliceBody(components, source, sink, bodyOptions)
            : streamPlane.body(source, sink, bodyOptions),
        openDigest: (algorithm) => (threads.isAlive() ? threads.openDigest(algorithm) : undefined),
        isAlive: threads.isAlive,
        close: threads.close,
      },
    };
  } catch (failure) {
    return { ok: false, reason: failure instanceof Error ? failure.message : String(failure) };
  }
}
