/**
 * Numbers of Linux's headers that calls are made with; the same on x64, arm64 and riscv64. Those of errors are
 * `constants.errno` of `node:os`.
 */

/** fcntl.h, sys/eventfd.h, sys/epoll.h: how a new descriptor behaves. */
export const OPEN = { nonBlock: 0o4000, closeOnExec: 0o2000000 } as const;

/** fcntl.h: commands of fcntl. */
export const FCNTL = { duplicateCloseOnExec: 1030, setPipeSize: 1031, getPipeSize: 1032 } as const;

/** asm-generic/ioctls.h: how many bytes can be read without a gap. */
export const UNREAD_BYTES = 0x541b;

/** fcntl.h: flags of splice. */
export const SPLICE = { move: 1, nonBlock: 2 } as const;

/** sys/epoll.h: what is watched for, and how the list of what is watched changes. */
export const EPOLL = {
  in: 0x001,
  out: 0x004,
  error: 0x008,
  hangUp: 0x010,
  readHangUp: 0x2000,
  exclusive: 0x10000000,
  edgeTriggered: 0x80000000,
  add: 1,
  delete: 2,
} as const;

/** sys/socket.h, netinet/in.h, linux/mptcp.h: what a socket is made of. */
export const SOCKET = {
  local: 1,
  stream: 1,
  ipv4: 2,
  ipv6: 10,
  tcp: 6,
  mptcp: 262,
  shutReading: 0,
  shutWriting: 1,
} as const;

/** Level and name of an option. */
export type SocketOption = readonly [level: number, name: number];

/** asm-generic/socket.h, linux/tcp.h, linux/mptcp.h: options of sockets. */
export const SOCKET_OPTIONS = {
  reuseAddress: [1, 2],
  error: [1, 4],
  sendBuffer: [1, 7],
  receiveBuffer: [1, 8],
  keepAlive: [1, 9],
  linger: [1, 13],
  maxPacingRate: [1, 47],
  bufferLock: [1, 72],
  noDelay: [6, 1],
  cork: [6, 3],
  keepIdle: [6, 4],
  keepInterval: [6, 5],
  keepCount: [6, 6],
  info: [6, 11],
  congestion: [6, 13],
  userTimeout: [6, 18],
  notSentLowat: [6, 25],
  ipv6Only: [41, 26],
  mptcpInfo: [284, 1],
} as const satisfies Record<string, SocketOption>;

// sys/timex.h: what adjtimex says while nothing keeps the clock right.
export const TIME_ERROR = 5;
