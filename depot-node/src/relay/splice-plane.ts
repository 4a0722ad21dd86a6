import { openKernel } from '../kernel/open-kernel.ts';
import { isPlainTcp } from '../kernel/tcp-handle.ts';
import type { RelayPlane } from './relay-plane.ts';
import { spliceBody } from './splice-body.ts';
import { startSpliceThread } from './splice-thread.ts';
import { spliceTunnel } from './splice-tunnel.ts';
import { streamPlane } from './stream-plane.ts';

export interface SplicePlane extends RelayPlane {
  /** Whether flows are still spliced; after a crash of the thread Node moves them. */
  readonly isAlive: () => boolean;
  /** Cancels what runs and ends the thread. */
  readonly close: () => Promise<void>;
}

export type OpenedSplicePlane =
  | { readonly ok: true; readonly plane: SplicePlane }
  | { readonly ok: false; readonly reason: string };

export interface SplicePlaneOptions {
  /** Called once if the thread dies by itself; its flows have been reset, later ones go through Node. */
  readonly onCrash?: (cause: unknown) => void;
}

/** Starts the plane that moves bytes inside the kernel, or says why this machine cannot. */
export async function openSplicePlane(options: SplicePlaneOptions = {}): Promise<OpenedSplicePlane> {
  const access = openKernel();
  if (!access.kernel) return { ok: false, reason: access.reason };
  const { kernel } = access;
  try {
    const thread = await startSpliceThread(kernel, options.onCrash ?? (() => undefined));
    const components = { kernel, thread };
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
        isAlive: thread.isAlive,
        close: thread.close,
      },
    };
  } catch (failure) {
    return { ok: false, reason: failure instanceof Error ? failure.message : String(failure) };
  }
}
