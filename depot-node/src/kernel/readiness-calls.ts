import { constants } from 'node:os';
import type { DescriptorCalls } from './descriptor-calls.ts';
import type { KernelBuffer, Libc } from './libc.ts';
import { EPOLL, OPEN } from './linux-constants.ts';

/** Calls that wait for sockets and for other threads. */
export interface ReadinessCalls {
  /** Throws when the kernel grants no epoll descriptor. */
  readonly openReadiness: () => Readiness;
  /** A descriptor that becomes readable with `wake`. */
  readonly makeWaker: () => number;
  readonly wake: (waker: number) => void;
  readonly rest: (waker: number) => void;
}

/** Tells which sockets have become ready since they were last asked (epoll, edge-triggered). */
export interface Readiness {
  /** Watches a descriptor under `key`; false when the kernel has no room for it. */
  readonly watch: (descriptor: number, key: number) => boolean;
  /** Watches a descriptor that is read empty each time it shows up. */
  readonly watchWaker: (descriptor: number, key: number) => boolean;
  /** Watches a listening socket that several watch: a new connection wakes one that sleeps, rather than all of them. */
  readonly watchListener: (descriptor: number, key: number) => boolean;
  /** Must come before `close`: a duplicate elsewhere would keep the watch alive. */
  readonly unwatch: (descriptor: number) => void;
  /** Waits; how many events there are. -1 ms waits without end. */
  readonly wait: (timeoutMs: number) => number;
  readonly key: (index: number) => number;
  readonly event: (index: number) => ReadyEvent;
  readonly close: () => void;
}

interface ReadyEvent {
  readable: boolean;
  writable: boolean;
  failed: boolean;
}

/** Events taken per call; what is left over comes with the next. */
const MAX_EVENTS = 512;
// `struct epoll_event` is packed on x64 only: the key then follows the events directly.
const EVENT_BYTES = process.arch === 'x64' ? 12 : 16;
const KEY_OFFSET = process.arch === 'x64' ? 4 : 8;

export function bindReadinessCalls(libc: Libc, { read, write, close }: DescriptorCalls): ReadinessCalls {
  const { bind, checked, buffer } = libc;
  const calls = { ...bindPoll(libc), close };
  const eventfd = bind('eventfd', 'int', 'uint', 'int');
  const count = buffer(8);
  return {
    openReadiness: () => openReadiness(calls, buffer(MAX_EVENTS * EVENT_BYTES), buffer(EVENT_BYTES)),
    makeWaker: () => checked(eventfd(0, OPEN.nonBlock | OPEN.closeOnExec)),
    wake: (waker) => {
      count.bytes.setBigUint64(0, 1n, true);
      write(waker, count.address, 8);
    },
    rest: (waker) => void read(waker, count.address, 8),
  };
}

type PollCalls = ReturnType<typeof bindPoll> & Pick<DescriptorCalls, 'close'>;

function bindPoll({ bind, checked }: Libc) {
  const create = bind('epoll_create1', 'int', 'int');
  const control = bind('epoll_ctl', 'int', 'int', 'int', 'int', 'intptr_t');
  const wait = bind('epoll_wait', 'int', 'int', 'intptr_t', 'int', 'int');
  return {
    create: () => checked(create(OPEN.closeOnExec)),
    control: (poll: number, operation: number, descriptor: number, { address }: KernelBuffer) =>
      checked(control(poll, operation, descriptor, address)),
    wait: (poll: number, { address }: KernelBuffer, timeoutMs: number) =>
      checked(wait(poll, address, MAX_EVENTS, timeoutMs)),
  };
}

function openReadiness(calls: PollCalls, events: KernelBuffer, request: KernelBuffer): Readiness {
  const poll = calls.create();
  if (poll < 0) throw new Error(`epoll_create1 failed, errno ${-poll}`);
  const event: ReadyEvent = { readable: false, writable: false, failed: false };
  const add = (descriptor: number, key: number, bits: number) => {
    request.bytes.setUint32(0, bits, true);
    request.bytes.setUint32(KEY_OFFSET, key, true);
    return calls.control(poll, EPOLL.add, descriptor, request) === 0;
  };
  return {
    watch: (descriptor, key) =>
      add(descriptor, key, EPOLL.in | EPOLL.out | EPOLL.readHangUp | EPOLL.edgeTriggered),
    watchWaker: (descriptor, key) => add(descriptor, key, EPOLL.in),
    watchListener: (descriptor, key) =>
      add(descriptor, key, EPOLL.in | EPOLL.edgeTriggered | EPOLL.exclusive),
    unwatch: (descriptor) => void calls.control(poll, EPOLL.delete, descriptor, request),
    wait: (timeoutMs) => {
      const count = calls.wait(poll, events, timeoutMs);
      if (count >= 0) return count;
      if (count === -constants.errno.EINTR) return 0;
      throw new Error(`epoll_wait failed, errno ${-count}`);
    },
    key: (index) => events.bytes.getUint32(index * EVENT_BYTES + KEY_OFFSET, true),
    event: (index) => {
      const bits = events.bytes.getUint32(index * EVENT_BYTES, true);
      // One object for all: it is read at once and never kept.
      event.failed = (bits & EPOLL.error) !== 0;
      event.readable = (bits & (EPOLL.in | EPOLL.readHangUp | EPOLL.hangUp | EPOLL.error)) !== 0;
      event.writable = (bits & (EPOLL.out | EPOLL.hangUp | EPOLL.error)) !== 0;
      return event;
    },
    close: () => calls.close(poll),
  };
}
