import type { Libc } from './libc.ts';

export interface HeapCalls {
  /**
   * Gives the system back what the C library keeps of memory that was freed; nothing where it knows no such
   * call, as musl.
   */
  readonly trimHeap: () => void;
}

export function bindHeapCalls({ bind }: Libc): HeapCalls {
  try {
    const trim = bind('malloc_trim', 'int', 'size_t');
    return { trimHeap: () => void trim(0) };
  } catch {
    return { trimHeap: () => undefined };
  }
}
