import { bindClockCalls, type ClockCalls } from './clock-calls.ts';
import { bindDescriptorCalls, type DescriptorCalls } from './descriptor-calls.ts';
import { bindHeapCalls, type HeapCalls } from './heap-calls.ts';
import { type MemoryCalls, openLibc } from './libc.ts';
import { bindListenerCalls, type ListenerCalls } from './listener-calls.ts';
import { bindOpenSslCalls, type OpenSslCalls } from './openssl-calls.ts';
import { bindReadinessCalls, type ReadinessCalls } from './readiness-calls.ts';
import { bindSocketCalls, type SocketCalls } from './socket-calls.ts';
import { bindSpliceCalls, type SpliceCalls } from './splice-calls.ts';

/**
 * The calls of Linux that Node does not offer, by what they are for. They do not throw: those that return a
 * number return an errno below 0 where they fail, as `errno` of Node's own errors is.
 */
export interface Kernel
  extends MemoryCalls,
    DescriptorCalls,
    SocketCalls,
    ListenerCalls,
    SpliceCalls,
    ReadinessCalls,
    ClockCalls,
    HeapCalls {}

export type KernelAccess =
  | { readonly kernel: Kernel }
  | { readonly kernel: undefined; readonly reason: string };

/**
 * Binds the calls for the thread that asks; tells why where that is impossible: not Linux, or koffi is missing or does
 * not load.
 */
export function openKernel(platform: NodeJS.Platform = process.platform): KernelAccess {
  if (platform !== 'linux') return { kernel: undefined, reason: `${platform} is not Linux` };
  try {
    const libc = openLibc();
    const descriptors = bindDescriptorCalls(libc);
    return {
      kernel: {
        buffer: libc.buffer,
        addressOf: libc.addressOf,
        copy: libc.copy,
        ...descriptors,
        ...bindSocketCalls(libc),
        ...bindListenerCalls(libc),
        ...bindSpliceCalls(libc, descriptors),
        ...bindReadinessCalls(libc, descriptors),
        ...bindClockCalls(libc),
        ...bindHeapCalls(libc),
      },
    };
  } catch (failure) {
    const text = failure instanceof Error ? failure.message : String(failure);
    return { kernel: undefined, reason: `koffi does not load: ${text.split('\n', 1)[0]}` };
  }
}

/** The calls of the OpenSSL in Node's own binary; throws where it is not there, or is another library. */
export function openOpenSsl(): OpenSslCalls {
  return bindOpenSslCalls(openLibc());
}
