import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import type { Kernel } from '../kernel/open-kernel.ts';
import { descriptorOf } from '../kernel/tcp-handle.ts';
import { descriptorUnder } from '../sockets/held-descriptor.ts';

type Flush = 'flushed' | 'broke' | 'timeout' | 'cancelled';

/** Waits until the kernel has everything that was written to a stream. */
export function flushed(stream: Duplex, timeoutMs: number, signal: AbortSignal): Promise<Flush> {
  if (signal.aborted) return Promise.resolve('cancelled');
  if (stream.destroyed || stream.writableEnded) return Promise.resolve('broke');
  if (stream.writableLength === 0) return Promise.resolve('flushed');
  return new Promise((resolve) => {
    const settle = (result: Flush) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      stream.off('close', onClose);
      resolve(result);
    };
    const onAbort = () => settle('cancelled');
    const onClose = () => settle('broke');
    const timer = setTimeout(() => settle('timeout'), timeoutMs);
    signal.addEventListener('abort', onAbort);
    stream.once('close', onClose);
    // Writes are done in order: this one, of nothing, after all the others.
    stream.write('', (error) => settle(error ? 'broke' : 'flushed'));
  });
}

/**
 * Takes the idle timeouts off sockets while a body moves: it has limits of its own, and Node does not see bytes that
 * move in the kernel. The result puts them back.
 */
export function suspendIdleTimeouts(...streams: readonly Duplex[]): () => void {
  const undo = streams.map((stream) => {
    const timeoutMs = stream instanceof Socket ? (stream.timeout ?? 0) : 0;
    if (!(stream instanceof Socket) || timeoutMs === 0) return () => undefined;
    stream.setTimeout(0);
    return () => {
      if (!stream.destroyed) stream.setTimeout(timeoutMs);
    };
  });
  return () => {
    for (const restore of undo) restore();
  };
}

/** Descriptors of both ends for somebody else, duplicates of Node's own, or none. */
export function duplicatePair(
  kernel: DescriptorCalls,
  one: Socket,
  other: Socket,
): { first: number; second: number } | undefined {
  const [firstOwn, secondOwn] = [descriptorOf(one), descriptorOf(other)];
  if (firstOwn === undefined || secondOwn === undefined) return undefined;
  const first = kernel.duplicate(firstOwn);
  if (first < 0) return undefined;
  const second = kernel.duplicate(secondOwn);
  if (second >= 0) return { first, second };
  kernel.close(first);
  return undefined;
}

/**
 * Has the close of a connection reset it, also when it is the end of this process that closes it. The result
 * has it close as it did before.
 */
export function resetOnClose(kernel: Kernel, sink: Duplex): () => void {
  const descriptor = descriptorUnder(sink);
  if (descriptor === undefined || kernel.isResetOnClose(descriptor)) return () => undefined;
  kernel.resetOnClose(descriptor, true);
  return () => {
    const still = descriptorUnder(sink);
    if (still !== undefined) kernel.resetOnClose(still, false);
  };
}
