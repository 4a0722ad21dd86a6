import type { Kernel } from '../kernel/open-kernel.ts';
import type { Readiness } from '../kernel/readiness-calls.ts';
import type { End } from './end.ts';
import type { Flow } from './flow.ts';

// Key of the descriptor that says that commands have come; sockets have higher ones.
const WAKER_KEY = 0;

interface WatchedEndsInit {
  readonly kernel: Pick<Kernel, 'openReadiness' | 'rest'>;
  /** Readable when commands have come while the thread slept. */
  readonly waker: number;
  readonly enqueue: (flow: Flow) => void;
}

interface WatchedEnd {
  readonly end: End;
  readonly flow: Flow;
}

/** The ends of a thread's flows, and what wakes the thread: who has a turn when something has happened to which. */
export class WatchedEnds {
  readonly #init: WatchedEndsInit;
  readonly #readiness: Readiness;
  /** By key. */
  readonly #watched: (WatchedEnd | undefined)[] = [undefined];
  readonly #keysOf = new Map<Flow, number[]>();
  /** Of TLS connections, the flows whose ends they are. */
  readonly #borrowersOf = new Map<object, Set<Flow>>();
  readonly #freeKeys: number[] = [];
  /** Keys freed in this round: events that came with the same wait may still name them. */
  readonly #freedKeys: number[] = [];

  /** Throws where the waker cannot be watched. */
  constructor(init: WatchedEndsInit) {
    this.#init = init;
    this.#readiness = init.kernel.openReadiness();
    if (!this.#readiness.watchWaker(init.waker, WAKER_KEY)) throw new Error('the waker cannot be watched');
  }

  /** Waits for the next round; how many events it begins with. -1 ms waits without end. */
  wait(timeoutMs: number): number {
    return this.#readiness.wait(timeoutMs);
  }

  /** Has events of its ends give a flow turns; false where the kernel has no room for one of them. */
  watch(flow: Flow): boolean {
    const keys: number[] = [];
    this.#keysOf.set(flow, keys);
    return flow.ends.every((end) => {
      if (end.descriptor < 0) return this.#lendTo(flow, end);
      const key = this.#freeKeys.pop() ?? this.#watched.length;
      keys.push(key);
      this.#watched[key] = { end, flow };
      return flow.isListener
        ? this.#readiness.watchListener(end.descriptor, key)
        : this.#readiness.watch(end.descriptor, key);
    });
  }

  /** Flows have a turn when there is news of what they have borrowed. */
  #lendTo(flow: Flow, { session }: End): true {
    if (!session) return true;
    const borrowers = this.#borrowersOf.get(session) ?? new Set();
    this.#borrowersOf.set(session, borrowers.add(flow));
    return true;
  }

  /** Watches none of its ends any longer. Must come before they are closed. */
  forget(flow: Flow): void {
    for (const key of this.#keysOf.get(flow) ?? []) {
      this.#watched[key] = undefined;
      this.#freedKeys.push(key);
    }
    this.#keysOf.delete(flow);
    this.#borrowersOf.delete(flow);
    for (const { descriptor, session } of flow.ends) {
      if (descriptor >= 0) this.#readiness.unwatch(descriptor);
      if (session) this.#borrowersOf.get(session)?.delete(flow);
    }
  }

  /** Notes at the ends what has happened to them, as so many events say, and has their flows have a turn. */
  noteEvents(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const key = this.#readiness.key(index);
      if (key === WAKER_KEY) this.#init.kernel.rest(this.#init.waker);
      else this.#noteEvent(index, this.#watched[key]);
    }
  }

  #noteEvent(index: number, watched: WatchedEnd | undefined): void {
    if (!watched) return;
    const { end, flow } = watched;
    const event = this.#readiness.event(index);
    if (event.readable) end.readable = true;
    if (event.writable) end.writable = true;
    if (event.failed) end.failed = true;
    this.#init.enqueue(flow);
    const borrowers = this.#borrowersOf.get(flow);
    if (borrowers) for (const borrower of borrowers) this.#init.enqueue(borrower);
  }

  /** No event of this round is still to be noted: keys that were freed in it may be others'. */
  endRound(): void {
    if (this.#freedKeys.length > 0) this.#freeKeys.push(...this.#freedKeys.splice(0));
  }

  close(): void {
    this.#readiness.close();
  }
}
