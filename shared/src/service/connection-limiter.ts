import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { clientPrefix } from '../address-policy.ts';

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
}

/** Which bound a refused connection was over. */
export interface RefusedConnection {
  readonly bound: 'all' | 'network' | 'network-waiting';
  /** Where it came from: a /24 or /48, or a trusted address. */
  readonly network: string;
}

interface ConnectionLimiterInit {
  readonly limits: ConnectionLimits;
  /** Whether connections from an address may use the reserve, and are not counted for their network but by themselves. */
  readonly isTrusted: (address: string) => boolean;
  readonly onRefused: (refused: RefusedConnection) => void;
}

interface Network {
  open: number;
  waiting: number;
}

interface Connection {
  readonly socket: Socket;
  readonly network: Network;
  isWaiting: boolean;
}

/**
 * Lets a listener have only so many connections, over all and of each client network, and closes further ones at once. So
 * those who open connections and bring no requests keep nobody out but their neighbours.
 */
export class ConnectionLimiter {
  readonly #init: ConnectionLimiterInit;
  readonly #networks = new Map<string, Network>();
  /** By both ends: of a TLS connection and the one below it these are the same. */
  readonly #connections = new Map<string, Connection>();

  constructor(init: ConnectionLimiterInit) {
    this.#init = init;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#connections.size;
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
    const connection = this.#connections.get(endsOf(request.socket));
    if (!connection?.isWaiting) return;
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    const hasBody = coding !== undefined || Number(length) > 0;
    if (hasBody && request.method !== 'CONNECT') request.once('end', () => settle(connection));
    else settle(connection);
  }

  /** Closes what has not brought a request: a server that ends would wait for it. */
  closeWaiting(): void {
    for (const { socket, isWaiting } of this.#connections.values()) if (isWaiting) socket.destroy();
  }

  #admit(socket: Socket): boolean {
    const { limits, isTrusted, onRefused } = this.#init;
    const { remoteAddress } = socket;
    // It is gone already.
    if (remoteAddress === undefined) return false;
    const isKnown = isTrusted(remoteAddress);
    const name = isKnown ? remoteAddress : clientPrefix(remoteAddress);
    const network = this.#networks.get(name) ?? { open: 0, waiting: 0 };
    const bound = boundOver(limits, network, this.open + (isKnown ? 0 : limits.reserved));
    if (bound) {
      onRefused({ bound, network: name });
      return false;
    }
    const connection: Connection = { socket, network, isWaiting: true };
    const ends = endsOf(socket);
    this.#connections.set(ends, connection);
    this.#networks.set(name, network);
    network.open += 1;
    network.waiting += 1;
    socket.once('close', () => {
      settle(connection);
      if (this.#connections.get(ends) === connection) this.#connections.delete(ends);
      network.open -= 1;
      if (network.open === 0) this.#networks.delete(name);
    });
    return true;
  }
}

function boundOver(
  { most, perNetwork, waitingPerNetwork }: ConnectionLimits,
  { open, waiting }: Network,
  taken: number,
): RefusedConnection['bound'] | undefined {
  if (taken >= most) return 'all';
  if (open >= perNetwork) return 'network';
  return waiting >= waitingPerNetwork ? 'network-waiting' : undefined;
}

function settle(connection: Connection): void {
  if (connection.isWaiting) connection.network.waiting -= 1;
  connection.isWaiting = false;
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
