import type { DigestAlgorithm, FlowDigest } from '../digests/flow-digest.ts';
import type { Kernel } from '../kernel/open-kernel.ts';
import { type FlowCommand, type FlowListener, type RelayThread, startRelayThread } from './relay-thread.ts';

/** Threads that share the flows. */
export interface RelayThreads extends Pick<RelayThread, 'isAlive' | 'close' | 'openDigest'> {
  /** As of one thread; a flow that feeds a digest goes to the thread that has it. */
  readonly start: (command: FlowCommand, listener: FlowListener, digest?: FlowDigest) => () => void;
  /** Those that take flows, and how many each has. */
  readonly running: () => readonly number[];
}

interface RelayThreadsInit {
  readonly kernel: Kernel;
  /** At least 1. */
  readonly count: number;
  /** Called for each thread that dies by itself; its flows have then been reset, and the others have those that come. */
  readonly onCrash: (cause: unknown) => void;
}

/** Starts so many threads; rejects when one cannot start. Each new flow goes to the one that has the fewest; so does a digest with its flows. */
export async function startRelayThreads({ kernel, count, onCrash }: RelayThreadsInit): Promise<RelayThreads> {
  const started = await Promise.allSettled(
    Array.from({ length: count }, () => startRelayThread(kernel, onCrash)),
  );
  const threads = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed) {
    await Promise.all(threads.map((thread) => thread.close()));
    throw failed.reason;
  }
  const alive = () => threads.filter((thread) => thread.isAlive());
  const homes = new WeakMap<FlowDigest, RelayThread>();
  const idlest = () => {
    const [first, ...others] = alive();
    if (!first) throw new Error('all relay threads have died');
    return others.reduce((least, thread) => (thread.running() < least.running() ? thread : least), first);
  };
  return {
    isAlive: () => threads.some((thread) => thread.isAlive()),
    running: () => alive().map((thread) => thread.running()),
    start: (command, listener, digest) => {
      const own = digest && homes.get(digest);
      // A digest whose thread has died has none of the bytes before.
      if (digest && own?.isAlive() === true)
        return own.start(command.type === 'body' ? { ...command, digestId: digest.id } : command, listener);
      return idlest().start(command, listener);
    },
    openDigest: (algorithm: DigestAlgorithm) => {
      const thread = idlest();
      const digest = thread.openDigest(algorithm);
      homes.set(digest, thread);
      return digest;
    },
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
