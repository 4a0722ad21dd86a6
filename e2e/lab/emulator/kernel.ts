import { closeSync, constants, openSync } from 'node:fs';

/** The few calls of Linux that the emulator lives on, without a buffer or an object made per call. */
export interface Kernel {
  /** Makes a TUN device in this process' network namespace; it lives as long as the descriptor. */
  readonly createTun: (name: string) => number;
  /** Bytes read to `address`, or below 0. */
  readonly read: (descriptor: number, address: number, sizeBytes: number) => number;
  /** Bytes written from `address`, or below 0. */
  readonly write: (descriptor: number, address: number, sizeBytes: number) => number;
  /** Waits for descriptors; `timeout` is the address of a timespec, 0 for none. How many are ready, or below 0. */
  readonly poll: (pollfds: number, count: number, timeout: number) => number;
  /** Where the bytes of a buffer lie, for as long as it lives. */
  readonly addressOf: (buffer: ArrayBuffer) => number;
  /** Lets this thread go before all normal ones; whether it may. */
  readonly becomeRealTime: () => boolean;
  /** Ctrl-C goes to the whole group of a terminal: the driver decides, not the signal. */
  readonly ignoreInterrupt: () => void;
}

/** From linux/if_tun.h: packets of the network layer, without a header of the device. */
const IFF_TUN = 0x0001;
const IFF_NO_PI = 0x1000;
const TUNSETIFF = 0x400454ca;
/** Size of struct ifreq on 64-bit Linux; the name has the first 16 bytes, the flags follow. */
const IFREQ_BYTES = 40;
const IFREQ_FLAGS_OFFSET = 16;
/** From sched.h and the like. */
const SCHED_FIFO = 1;
const SIGINT = 2;
const SIG_IGN = 1;
/** Before every normal thread, behind what the kernel itself runs at 50 and above. */
const REAL_TIME_PRIORITY = 20;

/** Binds the calls. Rejects when the optional dependency koffi is missing or has no binary for this machine. */
export async function openKernel(): Promise<Kernel> {
  const { default: koffi } = await import('koffi');
  const libc = koffi.load(null);
  const ioctl = libc.func('ioctl', 'int', ['int', 'ulong', 'intptr_t']);
  const setScheduler = libc.func('sched_setscheduler', 'int', ['int', 'int', 'intptr_t']);
  const signal = libc.func('signal', 'intptr_t', ['int', 'intptr_t']);
  const addressOf = (buffer: ArrayBuffer) => Number(koffi.address(buffer));

  function createTun(name: string): number {
    const flags = constants.O_RDWR | constants.O_NONBLOCK;
    const descriptor = openSync('/dev/net/tun', flags);
    const request = new ArrayBuffer(Math.max(IFREQ_BYTES, 128));
    new TextEncoder().encodeInto(name, new Uint8Array(request));
    new Uint16Array(request)[IFREQ_FLAGS_OFFSET / 2] = IFF_TUN | IFF_NO_PI;
    if (ioctl(descriptor, TUNSETIFF, addressOf(request)) === 0) return descriptor;
    const code = koffi.errno();
    closeSync(descriptor);
    const text = Object.entries(koffi.os.errno).find(([, value]) => value === code)?.[0] ?? `errno ${code}`;
    throw Object.assign(new Error(`the TUN device ${name} cannot be made: ${text}`), { code: text });
  }

  function becomeRealTime(): boolean {
    const parameter = new ArrayBuffer(128);
    new Int32Array(parameter)[0] = REAL_TIME_PRIORITY;
    // Not mlockall: V8 gives pages back by madvise, which fails on locked memory and ends the process.
    return setScheduler(0, SCHED_FIFO, addressOf(parameter)) === 0;
  }

  return {
    createTun,
    read: libc.func('read', 'intptr_t', ['int', 'intptr_t', 'size_t']),
    write: libc.func('write', 'intptr_t', ['int', 'intptr_t', 'size_t']),
    poll: bindPoll(libc.func('ppoll', 'int', ['intptr_t', 'ulong', 'intptr_t', 'intptr_t'])),
    addressOf,
    becomeRealTime,
    ignoreInterrupt: () => void signal(SIGINT, SIG_IGN),
  };
}

/** `ppoll` with the signals left as they are. */
function bindPoll(ppoll: (pollfds: number, count: number, timeout: number, mask: number) => number) {
  return (pollfds: number, count: number, timeout: number) => ppoll(pollfds, count, timeout, 0);
}
