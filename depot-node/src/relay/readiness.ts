import type { SpliceKernel } from './splice-kernel.ts';

// From sys/epoll.h.
const EPOLLIN = 0x001;
const EPOLLOUT = 0x004;
const EPOLLERR = 0x008;
const EPOLLHUP = 0x010;
const EPOLLRDHUP = 0x2000;
const EPOLLET = 0x80000000;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EINTR = 4;
/** Events taken per call; what is left over comes with the next. */
const MAX_EVENTS = 512;
// `struct epoll_event` is packed on x64 only: the key then follows the events directly.
const EVENT_BYTES = process.arch === 'x64' ? 12 : 16;
const KEY_OFFSET = process.arch === 'x64' ? 4 : 8;

/** Tells which sockets have become ready since they were last asked (epoll, edge-triggered). */
export interface Readiness {
  /** Watches a descriptor under `key`; false when the kernel has no room for it. */
  readonly watch: (descriptor: number, key: number) => boolean;
  /** Watches a descriptor that is read empty each time it shows up. */
  readonly watchWaker: (descriptor: number, key: number) => boolean;
  /** Must come before `close`: a duplicate elsewhere would keep the watch alive. */
  readonly unwatch: (descriptor: number) => void;
  /** Waits; how many events there are. -1 ms waits without end. */
  readonly wait: (timeoutMs: number) => number;
  readonly key: (index: number) => number;
  readonly event: (index: number) => ReadyEvent;
  readonly close: () => void;
}

export interface ReadyEvent {
  readable: boolean;
  writable: boolean;
  failed: boolean;
}

/** Throws when the kernel grants no epoll descriptor. */
export function createReadiness(kernel: SpliceKernel): Readiness {
  const poll = kernel.createPoll();
  if (poll < 0) throw new Error(`epoll_create1 failed, errno ${-poll}`);
  const buffer = new ArrayBuffer(MAX_EVENTS * EVENT_BYTES);
  const view = new DataView(buffer);
  const address = kernel.addressOf(buffer);
  const request = new ArrayBuffer(128);
  const requestView = new DataView(request);
  const requestAddress = kernel.addressOf(request);
  const event: ReadyEvent = { readable: false, writable: false, failed: false };
  const add = (descriptor: number, key: number, events: number) => {
    requestView.setUint32(0, events, true);
    requestView.setUint32(KEY_OFFSET, key, true);
    return kernel.changePoll(poll, EPOLL_CTL_ADD, descriptor, requestAddress) === 0;
  };

  return {
    watch: (descriptor, key) => add(descriptor, key, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET),
    watchWaker: (descriptor, key) => add(descriptor, key, EPOLLIN),
    unwatch: (descriptor) => void kernel.changePoll(poll, EPOLL_CTL_DEL, descriptor, requestAddress),
    wait: (timeoutMs) => {
      const count = kernel.waitPoll(poll, address, MAX_EVENTS, timeoutMs);
      if (count >= 0) return count;
      if (count === -EINTR) return 0;
      throw new Error(`epoll_wait failed, errno ${-count}`);
    },
    key: (index) => view.getUint32(index * EVENT_BYTES + KEY_OFFSET, true),
    event: (index) => {
      const bits = view.getUint32(index * EVENT_BYTES, true);
      // One object for all: it is read at once and never kept.
      event.failed = (bits & EPOLLERR) !== 0;
      event.readable = (bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) !== 0;
      event.writable = (bits & (EPOLLOUT | EPOLLHUP | EPOLLERR)) !== 0;
      return event;
    },
    close: () => kernel.close(poll),
  };
}
