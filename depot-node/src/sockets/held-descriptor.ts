import type { Duplex } from 'node:stream';
import { descriptorOf } from './descriptor-of.ts';
import type { SocketKernel } from './kernel-options.ts';

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
  kernel: SocketKernel,
  stream: Duplex | number,
  handedOver: boolean,
): HeldDescriptor | undefined {
  if (typeof stream !== 'number' && !handedOver) {
    return { descriptor: () => descriptorOf(stream), release: () => {} };
  }
  const original = typeof stream === 'number' ? stream : descriptorOf(stream);
  if (original === undefined) return undefined;
  const copy = kernel.duplicate(original);
  // Out of descriptors: the connection goes on without being looked at.
  if (copy < 0) return undefined;
  let own: number | undefined = copy;
  return {
    descriptor: () => own,
    release: () => {
      if (own !== undefined) kernel.close(own);
      own = undefined;
    },
  };
}
