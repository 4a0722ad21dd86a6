import type { DigestAlgorithm, FlowDigest } from '../digests/flow-digest.ts';
import type { Kernel } from '../kernel/open-kernel.ts';
import { type RelayThread, startRelayThread } from './relay-thread.ts';

/** Threads that share the flows. */
export interface RelayThreads extends Pick<RelayThread, 'isAlive' | 'rest' | 'close'> {
  /** The thread that has the fewest flows; undefined when all have died. */
  readonly idlest: () => RelayThread | undefined;
  /** All that were started. */
  readonly all: readonly RelayThread[];
  /** Begins a digest in that thread. */
  readonly openDigest: (algorithm: DigestAlgorithm) => FlowDigest | undefined;
  /** The thread of a digest, while it lives: a flow feeds the digests of its own thread. */
  readonly homeOf: (digest: FlowDigest) => RelayThread | undefined;
  /** Why they end no TLS; undefined where they do. */
  readonly whyNoTls: string | undefined;
  /** Those that take flows, and how many each has. */
  readonly running: () => readonly number[];
}

interface RelayThreadsInit {
  readonly kernel: Kernel;
  /** At least 1. */
  readonly count: number;
  /**
   * Called for each thread that dies by itself; its flows have then been reset, and the others have those
   * that come.
   */
  readonly onCrash: (cause: unknown) => void;
  /** Whether they shall end TLS, where they can. */
  readonly endsTls?: boolean;
}

/**
 * Starts so many threads; rejects when one cannot start. Each new flow goes to the one that has the fewest;
 * so does a digest with its flows.
 */
export async function startRelayThreads({
  kernel,
  count,
  onCrash,
  endsTls = false,
}: RelayThreadsInit): Promise<RelayThreads> {
  const started = await Promise.allSettled(
    Array.from({ length: count }, () => startRelayThread(kernel, onCrash, endsTls)),
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
    return others.reduce(
      (least, thread) => (least && thread.running() >= least.running() ? least : thread),
      first,
    );
  };
  return {
    isAlive: () => threads.some((thread) => thread.isAlive()),
    running: () => alive().map((thread) => thread.running()),
    whyNoTls: threads.find((thread) => thread.whyNoTls !== undefined)?.whyNoTls,
    idlest,
    all: threads,
    openDigest: (algorithm) => {
      const thread = idlest();
      const digest = thread?.openDigest(algorithm);
      if (thread && digest) homes.set(digest, thread);
      return digest;
    },
    homeOf: (digest) => {
      const home = homes.get(digest);
      return home?.isAlive() === true ? home : undefined;
    },
    rest: () => {
      for (const thread of threads) thread.rest();
    },
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
