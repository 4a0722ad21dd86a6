import type { Socket } from 'node:net';
import type { Kernel } from '../kernel/open-kernel.ts';
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
  /** Closes Node's own sockets: both connections go on, and to their ends, in the thread. */
  readonly handOver: () => void;
}

/**
 * Brings two connections into one thread: `home` where there is one, else that of the second one where it ends the TLS of it.
 * Undefined where that is impossible, or one of them is no more; both then go on as they did.
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
