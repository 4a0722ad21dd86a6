import type { DigestAlgorithm, FlowDigest } from '../digests/flow-digest.ts';
import type { Kernel } from '../kernel/open-kernel.ts';
import { type RelayThread, startRelayThread } from './relay-thread.ts';

/**
 * How long the place of a thread that died stays empty: what kills each of them within its first moments
 * costs a core little then.
 */
const RESTART_AFTER_MS = 60_000;

/** Threads that share the flows. */
export interface RelayThreads extends Pick<RelayThread, 'isAlive' | 'rest' | 'close'> {
  /** The thread that has the fewest flows; undefined while all have died. */
  readonly idlest: () => RelayThread | undefined;
  /** The thread of each place; one that has died, until another one has its place. */
  readonly all: readonly RelayThread[];
  /** Calls back for each thread that has taken the place of one that died; the result ends that. */
  readonly onRestart: (listener: (thread: RelayThread) => void) => () => void;
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
   * that come, until another one takes its place. Called, too, where that one does not start.
   */
  readonly onCrash: (cause: unknown) => void;
  /** Whether they shall end TLS, where they can. */
  readonly endsTls?: boolean;
  /** How long the place of one that died stays empty; left out, a minute. */
  readonly restartAfterMs?: number;
}

/**
 * Starts so many threads, and others in the places of those that die; rejects when one cannot start at first. Each new
 * flow goes to the one that has the fewest; so does a digest with its flows.
 */
export async function startRelayThreads({
  kernel,
  count,
  onCrash,
  endsTls = false,
  restartAfterMs = RESTART_AFTER_MS,
}: RelayThreadsInit): Promise<RelayThreads> {
  const restarts = new Restarts(restartAfterMs);
  const threads: RelayThread[] = [];
  const listeners = new Set<(thread: RelayThread) => void>();
  const startIn = async (place: number): Promise<RelayThread> => {
    const died = (cause: unknown) => {
      onCrash(cause);
      restarts.soon(() => restartIn(place));
    };
    const thread = await startRelayThread(kernel, died, endsTls);
    const { whyNoTls } = thread;
    // Whoever goes to the threads for TLS counts on each of them.
    if (place in threads && whyNoTls !== undefined && whyNoTlsOf(threads) === undefined) {
      await thread.close();
      throw new Error(`a relay thread that was started anew ends no TLS: ${whyNoTls}`);
    }
    threads[place] = thread;
    return thread;
  };
  const restartIn = async (place: number) => {
    try {
      const thread = await startIn(place);
      for (const listener of listeners) listener(thread);
    } catch (failure) {
      onCrash(failure);
      restarts.soon(() => restartIn(place));
    }
  };
  const close = async () => {
    await restarts.end();
    await Promise.all(threads.map((thread) => thread.close()));
  };
  const started = await Promise.allSettled(Array.from({ length: count }, (_, place) => startIn(place)));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed) {
    await close();
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
    whyNoTls: whyNoTlsOf(threads),
    idlest,
    all: threads,
    onRestart: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
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
    close,
  };
}

function whyNoTlsOf(threads: readonly RelayThread[]): string | undefined {
  return threads.find((thread) => thread.whyNoTls !== undefined)?.whyNoTls;
}

/** Work that begins after a pause, until it is told to end. */
class Restarts {
  readonly #pauseMs: number;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  #hasEnded = false;

  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs;
  }

  /** Begins work, which never rejects. */
  soon(work: () => Promise<void>): void {
    if (this.#hasEnded) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const running = work().finally(() => this.#running.delete(running));
      this.#running.add(running);
    }, this.#pauseMs).unref();
    this.#timers.add(timer);
  }

  /** Begins nothing more, and waits for what has begun. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#running);
  }
}
