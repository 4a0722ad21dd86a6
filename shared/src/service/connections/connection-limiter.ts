import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientPrefix } from '../../address-policy.ts';
import { UNUSED_BACK_MS, UnusedBudgets, type UnusedConnections } from './unused-connections.ts';

/** Bounds on the connections of a listener. */
export interface ConnectionLimits {
  /** Connections at once. */
  readonly most: number;
  /** Of these, kept for trusted addresses. */
  readonly reserved: number;
  /** Connections of one client network (/24 or /48) at once; of a trusted address by itself. */
  readonly perNetwork: number;
  /** Of these, connections that have not brought a whole request yet. */
  readonly waitingPerNetwork: number;
  /** Connections of one client network that may end without a request at once; as many again within ten seconds. */
  readonly unusedPerNetwork: number;
}

/** Which bound a refused connection was over. */
export interface RefusedConnection {
  readonly bound: 'all' | 'network' | 'network-waiting' | 'network-unused';
  /** Where it came from: a /24 or /48, or a trusted address. */
  readonly network: string;
  /** Connections that this tells of; left out, one. */
  readonly times?: number;
}

/** Connections of the same listener that others have taken, and who wants to know what is here. */
export interface ConnectionsElsewhere {
  /** Of all networks; and of one, never fewer than there are. All of them wait for a request. */
  readonly all: () => number;
  readonly of: (network: string) => number;
  /** Changes what is here of a network: connections, and those that wait for a request. */
  readonly note: (network: string, open: number, waiting: number) => void;
  /**
   * Those that end without a request, there and here: `most` of a network at once, and as many again within
   * `backMs`.
   */
  readonly unused: (most: number, backMs: number) => UnusedConnections;
}

interface ConnectionLimiterInit {
  readonly limits: ConnectionLimits;
  /**
   * Whether connections from an address may use the reserve, and are not counted for their network but by
   * themselves.
   */
  readonly isTrusted: (address: string) => boolean;
  readonly onRefused: (refused: RefusedConnection) => void;
  readonly elsewhere?: ConnectionsElsewhere | undefined;
  /** By a clock that is never set; left out, the process's own. */
  readonly nowMs?: () => number;
}

interface Network {
  readonly name: string;
  open: number;
  waiting: number;
}

/** Of a network, here and elsewhere. */
interface Counts extends Pick<Network, 'open' | 'waiting'> {
  readonly hasTooManyUnused: boolean;
}

interface Connection {
  readonly socket: Socket;
  readonly network: Network;
  isWaiting: boolean;
  /** Whether something came that is answered as a request is, whole or not. */
  isUsed: boolean;
}

/**
 * Lets a listener have only so many connections, over all and of each client network, and closes further ones
 * at once. So those who open connections and bring no requests keep nobody out but their neighbours; nor do
 * those who open them, have a handshake made and leave, again and again.
 */
export class ConnectionLimiter {
  readonly #init: ConnectionLimiterInit;
  readonly #networks = new Map<string, Network>();
  /** By both ends: of a TLS connection and the one below it these are the same. */
  readonly #connections = new Map<string, Connection>();
  /** Those, as requests name them, that wait no longer. */
  readonly #settled = new WeakSet<Socket>();
  readonly #unused: UnusedConnections;

  constructor(init: ConnectionLimiterInit) {
    const { limits, elsewhere, nowMs = () => performance.now() } = init;
    this.#init = init;
    this.#unused =
      elsewhere?.unused(limits.unusedPerNetwork, UNUSED_BACK_MS) ??
      new UnusedBudgets(limits.unusedPerNetwork, nowMs);
  }

  get limits(): ConnectionLimits {
    return this.#init.limits;
  }

  /** Connections that are open now, here and elsewhere. */
  get open(): number {
    return this.#connections.size + (this.#init.elsewhere?.all() ?? 0);
  }

  /** For whom a connection from an address counts: its /24 or /48, or a trusted address by itself. */
  networkOf(address: string): string {
    return networkOf(address, this.#init.isTrusted(address));
  }

  /** Stands before everything that listens to a server's connections by now, and takes note of its requests. */
  guard(server: Server): void {
    const others = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (!this.#admit(socket)) socket.destroy();
      else for (const listener of others) listener.call(server, socket);
    });
    server.on('request', (request: IncomingMessage) => this.noteRequest(request));
  }

  /** Takes note of a request that no `request` event tells of, such as CONNECT: its connection waits no longer. */
  noteRequest(request: IncomingMessage): void {
    // Of most connections this is not the first request.
    if (this.#settled.has(request.socket)) return;
    const connection = this.#connections.get(endsOf(request.socket));
    if (!connection) return;
    if (!connection.isWaiting) {
      this.#settled.add(request.socket);
      return;
    }
    connection.isUsed = true;
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    const hasBody = coding !== undefined || Number(length) > 0;
    if (hasBody && request.method !== 'CONNECT') request.once('end', () => this.#settle(connection));
    else this.#settle(connection);
  }

  /** Takes note of what was answered though it never became a request. */
  noteBroken(socket: Duplex): void {
    const connection = this.#connections.get(endsOf(socket as Socket));
    if (connection) connection.isUsed = true;
  }

  /** Takes note of connections that were refused elsewhere, because a bound was reached. */
  noteRefused(network: string, times: number): void {
    const { limits, onRefused, elsewhere } = this.#init;
    const { open = 0, waiting = 0 } = this.#networks.get(network) ?? {};
    const others = elsewhere?.of(network) ?? 0;
    const unused = this.#unused.hasTooMany(network);
    const counts = { open: open + others, waiting: waiting + others, hasTooManyUnused: unused };
    // Meanwhile there may be room again.
    const bound = boundOver(limits, counts, this.open + limits.reserved) ?? 'network-waiting';
    onRefused({ bound, network, times });
  }

  /** Closes what has not brought a request: a server that ends would wait for it. */
  closeWaiting(): void {
    for (const { socket, isWaiting } of this.#connections.values()) if (isWaiting) socket.destroy();
  }

  #admit(socket: Socket): boolean {
    const { limits, isTrusted, onRefused, elsewhere } = this.#init;
    const { remoteAddress } = socket;
    // It is gone already.
    if (remoteAddress === undefined) return false;
    const isKnown = isTrusted(remoteAddress);
    const name = networkOf(remoteAddress, isKnown);
    const network = this.#networks.get(name) ?? { name, open: 0, waiting: 0 };
    const others = isKnown ? 0 : (elsewhere?.of(name) ?? 0);
    const counts = {
      open: network.open + others,
      waiting: network.waiting + others,
      hasTooManyUnused: !isKnown && this.#unused.hasTooMany(name),
    };
    const bound = boundOver(limits, counts, this.open + (isKnown ? 0 : limits.reserved));
    if (bound) {
      onRefused({ bound, network: name });
      return false;
    }
    const connection: Connection = { socket, network, isWaiting: true, isUsed: false };
    const ends = endsOf(socket);
    this.#connections.set(ends, connection);
    this.#networks.set(name, network);
    network.open += 1;
    network.waiting += 1;
    elsewhere?.note(name, 1, 1);
    socket.once('close', () => {
      if (!connection.isUsed && !isKnown) this.#unused.note(name);
      this.#settle(connection);
      if (this.#connections.get(ends) === connection) this.#connections.delete(ends);
      network.open -= 1;
      elsewhere?.note(name, -1, 0);
      if (network.open === 0) this.#networks.delete(name);
    });
    return true;
  }

  #settle(connection: Connection): void {
    const { network, isWaiting } = connection;
    if (!isWaiting) return;
    connection.isWaiting = false;
    network.waiting -= 1;
    this.#init.elsewhere?.note(network.name, 0, -1);
  }
}

function networkOf(address: string, isTrusted: boolean): string {
  return isTrusted ? address : clientPrefix(address);
}

/** The bound that one more connection would be over, where `taken` of all places are. */
function boundOver(
  { most, perNetwork, waitingPerNetwork }: ConnectionLimits,
  { open, waiting, hasTooManyUnused }: Counts,
  taken: number,
): RefusedConnection['bound'] | undefined {
  if (taken >= most) return 'all';
  if (open >= perNetwork) return 'network';
  if (waiting >= waitingPerNetwork) return 'network-waiting';
  return hasTooManyUnused ? 'network-unused' : undefined;
}

/** Both ends of a connection: of a TLS connection and the one below it these are the same. */
export function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
