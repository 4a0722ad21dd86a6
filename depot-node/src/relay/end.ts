import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import type { SocketCalls } from '../kernel/socket-calls.ts';
import type { PooledBuffer } from './buffer-pool.ts';

/** Bytes in memory, in front of everything that is still in the source's connection. */
export interface HeldBytes extends PooledBuffer {
  offset: number;
  readonly end: number;
  /** Whether the memory is the pool's. */
  readonly isPooled: boolean;
}

/**
 * One connection of a flow, as the thread that moves its bytes sees it, with what is known since its last event. Calls
 * return an errno below 0 where they fail; `EAGAIN` asks to wait for an event.
 */
export interface End {
  /** Readiness is watched on it; below 0 where another flow's events are this end's, too. */
  readonly descriptor: number;
  /** The flow whose events these are. */
  readonly session?: object | undefined;
  /** Whether the descriptor has the bytes as they are, so that the kernel may move them. */
  readonly isPlain: boolean;
  readable: boolean;
  writable: boolean;
  /** An error waits on the connection, perhaps behind bytes that can still be read. */
  failed: boolean;
  /** Takes bytes into memory: how many came, 0 at the end. */
  readonly read: (address: number, sizeBytes: number) => number;
  /** Gives bytes from memory: how many were taken. */
  readonly write: (address: number, sizeBytes: number) => number;
  /**
   * Sends what was written to it before the flow began, though the flow itself may have nothing yet: 0 once
   * that has gone.
   */
  readonly sendEarlier?: () => number;
  /** Ends the direction towards the other side. */
  readonly endWriting: () => number;
  /** Whether a close resets the connection. */
  readonly resetOnClose: (isReset: boolean) => void;
  /** The error that waits, if any, and no longer. */
  readonly takeError: () => number;
  /**
   * Keeps bytes of the pool, which a flow took for it and could not give, for the one who writes next; false:
   * it cannot.
   */
  readonly keepForLater?: (held: HeldBytes) => boolean;
  readonly close: () => void;
}

type EndCalls = Pick<
  SocketCalls & DescriptorCalls,
  'read' | 'write' | 'close' | 'endWriting' | 'resetOnClose' | 'takeError'
>;

/** A TCP connection whose bytes are what they are. Nothing is known of it yet: trying tells. */
export class PlainEnd implements End {
  readonly descriptor: number;
  readonly isPlain = true;
  readonly #kernel: EndCalls;
  readable = true;
  writable = true;
  failed = false;

  constructor(descriptor: number, kernel: EndCalls) {
    this.descriptor = descriptor;
    this.#kernel = kernel;
  }

  read(address: number, sizeBytes: number): number {
    return this.#kernel.read(this.descriptor, address, sizeBytes);
  }

  write(address: number, sizeBytes: number): number {
    return this.#kernel.write(this.descriptor, address, sizeBytes);
  }

  endWriting(): number {
    return this.#kernel.endWriting(this.descriptor);
  }

  resetOnClose(isReset: boolean): void {
    this.#kernel.resetOnClose(this.descriptor, isReset);
  }

  takeError(): number {
    return this.#kernel.takeError(this.descriptor);
  }

  close(): void {
    this.#kernel.close(this.descriptor);
  }
}
