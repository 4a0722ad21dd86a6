import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import { descriptorOf } from '../kernel/tcp-handle.ts';
import { rawSocketOf } from './reset.ts';

/** The descriptor of the TCP connection under a stream, TLS or not; `undefined` once it is closed, or without one. */
export function descriptorUnder(stream: Duplex): number | undefined {
  const raw = rawSocketOf(stream);
  return raw instanceof Socket && !raw.destroyed ? descriptorOf(raw) : undefined;
}

/** A connection's descriptor for as long as somebody looks at it. */
export interface HeldDescriptor {
  /** `undefined` once the connection is closed or released. */
  readonly descriptor: () => number | undefined;
  readonly release: () => void;
}

/**
 * Where the descriptor of a connection is found as long as it lives. With `handedOver`, when somebody else takes the
 * stream's own, and for bare descriptors, it is a duplicate: neither end nor reset gets out before `release`.
 */
export function holdDescriptor(
  kernel: DescriptorCalls,
  stream: Duplex | number,
  handedOver: boolean,
): HeldDescriptor | undefined {
  if (typeof stream !== 'number' && !handedOver) return ownDescriptor(stream);
  const original = typeof stream === 'number' ? stream : descriptorUnder(stream);
  if (original === undefined) return undefined;
  const copy = kernel.duplicate(original);
  // Out of descriptors: the connection goes on without being looked at.
  return copy < 0 ? undefined : new DuplicatedDescriptor(kernel, copy);
}

function ownDescriptor(stream: Duplex): HeldDescriptor {
  return { descriptor: () => descriptorUnder(stream), release: () => {} };
}

/** Knows nothing of the stream, which may then be forgotten. */
class DuplicatedDescriptor implements HeldDescriptor {
  readonly #kernel: DescriptorCalls;
  #own: number | undefined;

  constructor(kernel: DescriptorCalls, own: number) {
    this.#kernel = kernel;
    this.#own = own;
  }

  descriptor(): number | undefined {
    return this.#own;
  }

  release(): void {
    if (this.#own !== undefined) this.#kernel.close(this.#own);
    this.#own = undefined;
  }
}
