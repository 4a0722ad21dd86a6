import type { Libc } from './libc.ts';
import { OPEN, SOCKET } from './linux-constants.ts';

/** Calls for sockets that others connect to. */
export interface ListenerCalls {
  /** Has connections to a bound socket wait for `accept`: 0 when it has worked. */
  readonly listen: (descriptor: number) => number;
  /** The port that a socket is bound to. */
  readonly portOf: (descriptor: number) => number;
  /** Takes a connection, which does not block. */
  readonly accept: (descriptor: number) => number;
  /** The client network, as `clientPrefix` names it, of the connection that was accepted last. */
  readonly acceptedNetwork: () => string;
  /** Takes no more connections, whoever has a duplicate of the socket; those that wait are reset. */
  readonly stopListening: (descriptor: number) => void;
}

/** As many as Linux lets wait at most, where its own bound (net.core.somaxconn) does not say less. */
export const LISTEN_BACKLOG = 4096;
/** struct sockaddr_in6, and behind it the length that the kernel states. */
const SOCKADDR_BYTES = 28;
const LENGTH_OFFSET = 32;

export function bindListenerCalls({ bind, checked, buffer }: Libc): ListenerCalls {
  const listen = bind('listen', 'int', 'int', 'int');
  const accept4 = bind('accept4', 'int', 'int', 'intptr_t', 'intptr_t', 'int');
  const getsockname = bind('getsockname', 'int', 'int', 'intptr_t', 'intptr_t');
  const shutdown = bind('shutdown', 'int', 'int', 'int');
  const { bytes, address } = buffer(LENGTH_OFFSET + 4);
  const room = () => bytes.setUint32(LENGTH_OFFSET, SOCKADDR_BYTES, true);
  return {
    listen: (descriptor) => checked(listen(descriptor, LISTEN_BACKLOG)),
    portOf: (descriptor) => {
      room();
      const result = checked(getsockname(descriptor, address, address + LENGTH_OFFSET));
      return result < 0 ? result : bytes.getUint16(2, false);
    },
    accept: (descriptor) => {
      room();
      const flags = OPEN.nonBlock | OPEN.closeOnExec;
      return checked(accept4(descriptor, address, address + LENGTH_OFFSET, flags));
    },
    acceptedNetwork: () => networkOf(bytes),
    stopListening: (descriptor) => void shutdown(descriptor, SOCKET.shutReading),
  };
}

/** The /24 of an IPv4 address, also of one that came as IPv6, or the /48 of IPv6, in the text form of RFC 5952. */
export function networkOf(sockaddr: DataView): string {
  const family = sockaddr.getUint16(0, true);
  if (family === SOCKET.ipv4) return ipv4Network(sockaddr, 4);
  if (family !== SOCKET.ipv6) return `family ${family}`;
  const isMapped =
    sockaddr.getBigUint64(8, false) === 0n &&
    sockaddr.getUint16(16, false) === 0 &&
    sockaddr.getUint16(18, false) === 0xffff;
  if (isMapped) return ipv4Network(sockaddr, 20);
  const groups = [8, 10, 12].map((offset) => sockaddr.getUint16(offset, false));
  while (groups.at(-1) === 0) groups.pop();
  return `${groups.map((group) => group.toString(16)).join(':')}::/48`;
}

function ipv4Network(sockaddr: DataView, offset: number): string {
  return `${sockaddr.getUint8(offset)}.${sockaddr.getUint8(offset + 1)}.${sockaddr.getUint8(offset + 2)}.0/24`;
}
