import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import type { BodyOptions, BodyOutcome, RelayPlane, TunnelOptions, TunnelOutcome } from '../relay-plane.ts';
import { type Received, receive } from './socket-pair.ts';

const LONG_MS = 60_000;

/** Connections for one test, and the plane that joins them. */
export interface SuiteConnections {
  readonly pair: () => Promise<[Socket, Socket]>;
  /** A tunnel between two given ends. */
  readonly join: (down: Socket, up: Socket, options?: Partial<TunnelOptions>) => Promise<TunnelOutcome>;
  /** A client and a server with a tunnel between them. */
  readonly tunnel: (
    options?: Partial<TunnelOptions>,
  ) => Promise<{ client: Socket; server: Socket; outcome: Promise<TunnelOutcome> }>;
  /** An origin whose body is to go to a client; `source` and `sink` are the relay's own ends. */
  readonly bodyEnds: () => Promise<BodyEnds>;
  readonly body: (
    source: Socket,
    sink: Socket,
    sizeBytes: number,
    options?: Partial<BodyOptions>,
  ) => Promise<BodyOutcome>;
  /** To be called after each test. */
  readonly destroyAll: () => void;
}

interface BodyEnds {
  readonly origin: Socket;
  readonly source: Socket;
  readonly sink: Socket;
  readonly client: Socket;
  readonly received: Received;
}

/** Connections that are joined by the plane which `plane` gives when it is asked. */
export function suiteConnections(
  plane: () => RelayPlane,
  makePair: () => Promise<[Socket, Socket]>,
): SuiteConnections {
  const sockets: Socket[] = [];
  const pair = async (): Promise<[Socket, Socket]> => {
    const made = await makePair();
    sockets.push(...made);
    return made;
  };
  const join = (down: Socket, up: Socket, options: Partial<TunnelOptions> = {}) => {
    const { signal } = new AbortController();
    const limits = { silenceMs: LONG_MS, halfClosedSilenceMs: LONG_MS };
    return plane().tunnel(down, up, { ...limits, signal, ...options });
  };
  return {
    pair,
    join,
    tunnel: async (options) => {
      const [[client, down], [server, up]] = await Promise.all([pair(), pair()]);
      return { client, server, outcome: join(down, up, options) };
    },
    bodyEnds: async () => {
      const [[origin, source], [client, sink]] = await Promise.all([pair(), pair()]);
      return { origin, source, sink, client, received: receive(client) };
    },
    body: (source, sink, sizeBytes, options) => {
      const { signal } = new AbortController();
      const limits = { silenceMs: LONG_MS, stallMs: LONG_MS };
      return plane().body(source, sink, { ...limits, sizeBytes, signal, ...options });
    },
    destroyAll: () => {
      for (const socket of sockets.splice(0)) socket.destroy();
    },
  };
}

/** Waits until a number has stayed the same for a few looks. */
export async function stopsGrowing(read: () => number): Promise<void> {
  let before = -1;
  let same = 0;
  await expect
    .poll(() => {
      const now = read();
      same = now === before ? same + 1 : 0;
      before = now;
      return same;
    })
    .toBeGreaterThan(3);
}

/**
 * Waits until the other side's kernel has everything that a socket has sent, its end included; where the
 * system does not tell, until its own has.
 */
export async function hasArrived(socket: Socket): Promise<void> {
  const port = socket.localPort ?? 0;
  if (!socket.writableFinished) await once(socket, 'finish');
  if (process.platform !== 'linux') return;
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const unacknowledged = () => {
    const rows = readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1);
    const row = rows.map((one) => one.trim().split(/\s+/)).find(([, address]) => address === local);
    return Number.parseInt(row?.[4] ?? '', 16);
  };
  await expect.poll(unacknowledged).toBe(0);
}

/** Descriptors of this process; 0 where the system does not tell. */
export function countDescriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
