import { hasDescriptorLeft } from './descriptors-left.ts';

/** Between two looks, each of some microseconds. */
const LOOK_MS = 5_000;

/**
 * Looks from time to time whether this process can still have a descriptor, and says so where it cannot: Node
 * closes connections for want of one and says nothing. Gives what ends that.
 */
export function watchDescriptors(onOut: () => void, hasDescriptor = hasDescriptorLeft): () => void {
  const look = () => {
    if (!hasDescriptor()) onOut();
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}
