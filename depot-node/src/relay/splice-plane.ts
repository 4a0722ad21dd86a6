import type { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Duplex } from 'node:stream';
import { openKernel } from '../kernel/open-kernel.ts';
import { isPlainTcp } from '../kernel/tcp-handle.ts';
import type { ChoosingRelay, RelayPlane } from './relay-plane.ts';
import { startRelayThreads } from './relay-threads.ts';
import { spliceBody } from './splice-body.ts';
import { spliceMerge } from './splice-merge.ts';
import { spliceTunnel } from './splice-tunnel.ts';
import { streamPlane } from './stream-plane.ts';
import { createTlsPlane, type TlsPlane } from './tls-plane.ts';

/** Threads where nobody says how many: each costs some MB, and eight cores move what network cards carry. */
const MOST_DEFAULT_THREADS = 8;

export interface SplicePlane extends RelayPlane, Pick<ChoosingRelay, 'openDigest' | 'merge'> {
  /** Whether flows are spliced; after a crash of all threads Node moves them, until there are others. */
  readonly isAlive: () => boolean;
  /** Threads that live. */
  readonly threads: () => number;
  /** Whether it can move the bytes of a connection: a plain one, or one whose TLS it ends. */
  readonly canMove: (stream: Duplex) => stream is Socket;
  /** Ends TLS; where it does not, it says why. */
  readonly tls: TlsPlane | { readonly reason: string };
  /** Lets the threads give back memory: the process rests. */
  readonly rest: () => void;
  /** Cancels what runs and ends the threads. */
  readonly close: () => Promise<void>;
}

export type OpenedSplicePlane =
  | { readonly ok: true; readonly plane: SplicePlane }
  | { readonly ok: false; readonly reason: string };

export interface SplicePlaneOptions {
  /** Threads that move the bytes; as many as there are cores, within reason, where it is left out. */
  readonly threads?: number | undefined;
  /** Who ends TLS: the threads, where they can, or Node. */
  readonly tls?: 'auto' | 'node' | undefined;
  /**
   * Called for each thread that dies by itself, and each that does not start in its place; its flows have been reset.
   * While there is none, later ones go through Node.
   */
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
      endsTls: options.tls !== 'node',
    });
    const { whyNoTls } = threads;
    const tls =
      whyNoTls === undefined
        ? createTlsPlane({ kernel, threads, nowMs: () => performance.now() })
        : undefined;
    const components = { kernel, threads, tls };
    const canMove = (stream: Duplex): stream is Socket =>
      isPlainTcp(stream) || tls?.sideOf(stream) !== undefined;
    return {
      ok: true,
      plane: {
        kind: 'splice',
        tunnel: (downstream, upstream, tunnelOptions) =>
          canMove(downstream) && canMove(upstream) && !tunnelOptions.signal.aborted
            ? spliceTunnel(components, downstream, upstream, tunnelOptions)
            : streamPlane.tunnel(downstream, upstream, tunnelOptions),
        body: (source, sink, bodyOptions) =>
          canMove(source) && canMove(sink) && !bodyOptions.signal.aborted
            ? spliceBody(components, source, sink, bodyOptions)
            : streamPlane.body(source, sink, bodyOptions),
        merge: async (sink, mergeOptions) =>
          canMove(sink) ? spliceMerge({ ...components, canMove }, sink, mergeOptions) : undefined,
        openDigest: threads.openDigest,
        canMove,
        tls: tls ?? { reason: whyNoTls ?? '' },
        isAlive: threads.isAlive,
        threads: () => threads.running().length,
        rest: () => {
          kernel.trimHeap();
          threads.rest();
        },
        close: threads.close,
      },
    };
  } catch (failure) {
    return { ok: false, reason: failure instanceof Error ? failure.message : String(failure) };
  }
}
