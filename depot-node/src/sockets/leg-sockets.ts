import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LegClass } from './leg-options.ts';

/** What an operator should hear of sockets; each is told once. */
export type SocketReport =
  /** Only Node's own options are set, because the kernel cannot be asked. */
  | { readonly what: 'options-unavailable'; readonly reason: string }
  /** The kernel does not offer or permit a congestion control; `used` stays in its place. */
  | {
      readonly what: 'congestion-control-refused';
      readonly name: string;
      readonly used: string | undefined;
      readonly reason: string;
    }
  | {
      readonly what: 'option-refused';
      readonly legClass: LegClass;
      readonly option: string;
      readonly reason: string;
    }
  /** The configured uplink cannot be shared evenly, because the kernel does not pace all connections. */
  | { readonly what: 'uplink-not-shared'; readonly reason: string }
  /** The kernel makes no multipath sockets; plain TCP is used. */
  | { readonly what: 'mptcp-unavailable'; readonly reason: string };

/** Multipath connections dialled: those the other end took, and those that became plain TCP. */
export interface MptcpCounts {
  readonly established: number;
  readonly fallbacks: number;
}

/** Makes and tunes all sockets of a depot's data plane. */
export interface LegSockets {
  /** Whether options beyond Node's own are set. */
  readonly isTuned: boolean;
  /**
   * Begins a connection to an address literal, all options set before its first packet. Throws what the
   * system says.
   */
  readonly connect: (legClass: LegClass, address: string, port: number) => Socket;
  /** Takes note of an established connection, for `mptcp`. */
  readonly noteConnected: (legClass: LegClass, socket: Socket) => void;
  /**
   * The least round trip of an established connection in milliseconds, as the kernel saw it; `undefined`
   * where nobody can tell.
   */
  readonly rttMsOf: (socket: Socket) => number | undefined;
  /** Moves an accepted connection from `client` to its real class, known once its first request is proved. */
  readonly reclassify: (stream: Duplex, legClass: LegClass) => void;
  /**
   * A bound descriptor whose connections are born with the options of `client`; `undefined` where Node must listen by
   * itself. Throws what the system says, for example EADDRINUSE.
   */
  readonly bind: (host: string, port: number) => number | undefined;
  /** Takes one more connection that waits at a bound descriptor, where there is one; left out where only Node can. */
  readonly accept?: (descriptor: number) => Socket | undefined;
  /** Sets an accepted connection; needed only where `bind` cannot pass everything on. */
  readonly noteAccepted: ((socket: Socket) => void) | undefined;
  readonly mptcp: MptcpCounts;
}
