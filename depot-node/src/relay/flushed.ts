import type { Duplex } from 'node:stream';

export type Flush = 'flushed' | 'broke' | 'timeout' | 'cancelled';

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
