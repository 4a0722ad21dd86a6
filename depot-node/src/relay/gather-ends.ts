import type { Socket } from 'node:net';
import type { Kernel } from '../kernel/open-kernel.ts';
import { descriptorOf } from '../kernel/tcp-handle.ts';
import { duplicatePair } from './prepare-ends.ts';
import type { RelayThread } from './relay-thread.ts';
import type { RelayThreads } from './relay-threads.ts';
import type { EndSpec } from './thread-message.ts';
import type { TlsPlane } from './tls-plane.ts';

interface GatherComponents {
  readonly kernel: Kernel;
  readonly threads: Pick<RelayThreads, 'idlest'>;
  readonly tls?: TlsPlane | undefined;
}

/** Two connections as the ends of a flow of one thread. */
export interface GatheredEnds {
  readonly thread: RelayThread;
  readonly first: EndSpec;
  readonly second: EndSpec;
  /** Leaves both connections as they are after all. */
  readonly release: () => void;
  /** Closes Node's own sockets: both connections go on, and to their ends, in the thread. */
  readonly handOver: () => void;
}

/** One connection as an end of a flow. */
export interface GatheredEnd {
  readonly thread: RelayThread;
  readonly end: EndSpec;
}

/**
 * Brings a connection into a thread: `home` where there is one, else any. Undefined where that is impossible;
 * it then goes on as it did.
 */
export async function gatherEnd(
  { kernel, threads, tls }: GatherComponents,
  socket: Socket,
  home?: RelayThread,
): Promise<GatheredEnd | undefined> {
  const side = tls?.sideOf(socket);
  const thread = home ?? side?.thread ?? threads.idlest();
  if (!thread || (side && side.thread !== thread && !(await side.move(thread)))) return undefined;
  const own = thread.isAlive() ? descriptorOf(socket) : undefined;
  const descriptor = own === undefined ? -1 : kernel.duplicate(own);
  if (descriptor < 0) return undefined;
  return { thread, end: side ? { session: side.id, descriptor } : descriptor };
}

/**
 * Brings two connections into one thread: `home` where there is one, else that of the second one where it
 * ends the TLS of it. Undefined where that is impossible, or one of them is no more; both then go on as they
 * did.
 */
export async function gatherEnds(
  { kernel, threads, tls }: GatherComponents,
  first: Socket,
  second: Socket,
  home?: RelayThread,
): Promise<GatheredEnds | undefined> {
  const [firstSide, secondSide] = [tls?.sideOf(first), tls?.sideOf(second)];
  const thread = home ?? (secondSide ?? firstSide)?.thread ?? threads.idlest();
  for (const side of [firstSide, secondSide])
    if (thread && side && side.thread !== thread && !(await side.move(thread))) return undefined;
  const pair = thread?.isAlive() === true ? duplicatePair(kernel, first, second) : undefined;
  if (!thread || !pair) return undefined;
  const specOf = (descriptor: number, side: typeof firstSide): EndSpec =>
    side ? { session: side.id, descriptor } : descriptor;
  return {
    thread,
    first: specOf(pair.first, firstSide),
    second: specOf(pair.second, secondSide),
    release: () => {
      kernel.close(pair.first);
      kernel.close(pair.second);
    },
    handOver: () => {
      for (const [socket, side] of [
        [first, firstSide],
        [second, secondSide],
      ] as const) {
        if (side) side.handOver();
        // The duplicates keep it alive: Node's own socket closes without a word on the wire.
        else socket.destroy();
      }
    },
  };
}
