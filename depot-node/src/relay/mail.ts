/** Places in the shared memory: whether the thread sleeps or is about to, and whether commands lie in its port. */
const [SLEEPS, HAS_COME] = [0, 1];

/**
 * What a thread and whoever sends it commands know of each other without a call of the kernel: to wake one
 * that sleeps takes up to 50 us of the sender's time, and one that runs need not be woken.
 */
export class Mail {
  /** Shared by both sides. */
  readonly memory: SharedArrayBuffer;
  readonly #state: Int32Array;

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#state = new Int32Array(memory);
  }

  /** The sender has put a command into the port; whether the thread must be woken for it. */
  note(): boolean {
    Atomics.store(this.#state, HAS_COME, 1);
    return Atomics.exchange(this.#state, SLEEPS, 0) === 1;
  }

  /** The thread is about to sleep; false when it must not, because commands have come. */
  fallAsleep(): boolean {
    // In this order: a command that comes in between is either seen here, or its sender sees that the thread sleeps.
    Atomics.store(this.#state, SLEEPS, 1);
    return Atomics.load(this.#state, HAS_COME) === 0;
  }

  wakeUp(): void {
    Atomics.store(this.#state, SLEEPS, 0);
  }

  /** Whether commands have come since the thread asked last; it takes all of them then. */
  hasCome(): boolean {
    return Atomics.exchange(this.#state, HAS_COME, 0) === 1;
  }
}
