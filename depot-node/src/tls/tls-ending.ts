import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SharedCounts } from './shared-counts.ts';
import type { ListenerMaterial } from './tls-context.ts';

/**
 * What ends TLS outside of Node's event loop. Both ways give `undefined` where that is impossible for this
 * connection, which is then as it was: Node's own TLS takes it.
 */
export interface TlsEnding {
  /** Answers as a server with this certificate. */
  readonly accept: (raw: Socket, material: ListenerMaterial) => Securing | undefined;
  /** Asks as a client, and verifies the certificate for `host`, which one of these authorities must have signed. */
  readonly connect: (below: Duplex, host: string, authorities: readonly string[]) => Securing | undefined;
  /** Begins as {@link connect} does, before there is a connection. */
  readonly begin: (host: string, authorities: readonly string[]) => BegunTls | undefined;
  /** Throws, in a few words, what it has against a certificate that Node takes. */
  readonly check: (material: ListenerMaterial) => void;
  /**
   * Takes the connections of a bound descriptor itself; undefined where that is impossible, and nothing has
   * changed.
   */
  readonly listen: (init: ListenInit) => TlsListening | undefined;
  /** What connections are counted with that nobody else has seen yet. */
  readonly makeCounts: () => SharedCounts;
  readonly use: () => TlsUse;
}

export interface ListenInit {
  /** Stays the caller's. */
  readonly descriptor: number;
  readonly material: ListenerMaterial;
  /** What may be taken without asking; what is over it comes to `onConnection` as it is, with nothing done. */
  readonly limits: {
    readonly most: number;
    readonly perNetwork: number;
    readonly waitingPerNetwork: number;
    readonly unusedPerNetwork: number;
    readonly unusedBackMs: number;
  };
  readonly counts: SharedCounts;
  /** A connection, which `accept` goes on with; it is dropped where nobody calls that before this returns. */
  readonly onConnection: (raw: Socket) => void;
  /** So many more of a network were closed at once. */
  readonly onRefused: (network: string, times: number) => void;
  /** Nobody takes connections any more, though it was not closed. */
  readonly onDeserted: () => void;
}

export interface TlsListening {
  readonly port: number;
  /** New connections are answered with this one. */
  readonly renew: (material: ListenerMaterial) => void;
  /** Takes no more; what has not come to a request is dropped. */
  readonly close: () => void;
}

/** A client's handshake that has no connection yet. */
export interface BegunTls {
  /** What it says first. Rejects with a `TlsFailure`, unless it was abandoned. */
  readonly firstFlight: Promise<Buffer>;
  /** Goes on over a connection that the first flight was sent over. */
  readonly finish: (below: Duplex) => Securing;
  readonly abandon: () => void;
}

/** What has become of it so far. */
export interface TlsUse {
  /** Whether it takes connections. */
  readonly isAlive: boolean;
  readonly handshakes: readonly HandshakeCount[];
}

export interface HandshakeCount {
  readonly role: 'server' | 'client';
  readonly isResumed: boolean;
  readonly count: number;
}

/** A handshake under way. The connection below belongs to it, and later to the stream that comes of it. */
export interface Securing {
  /** What is inside the connection. Rejects with a `TlsFailure`. */
  readonly secured: Promise<Duplex>;
  /** Gives the handshake up; the connection below is destroyed. */
  readonly drop: () => void;
}

/** Why a handshake came to nothing. */
export class TlsFailure extends Error {
  /** Whether the connection broke, rather than TLS refused it. */
  readonly isBroken: boolean;

  constructor(isBroken: boolean, reason: string) {
    super(reason);
    this.isBroken = isBroken;
  }
}
