import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { promiseBody } from './body-suite.ts';
import type { BodyOptions, BodyOutcome, RelayPlane, TunnelOptions, TunnelOutcome } from './relay-plane.ts';
import { type Received, receive, socketPair } from './suite-sockets.ts';
import { promiseTunnel } from './tunnel-suite.ts';

const LONG_MS = 60_000;

interface OpenedPlane {
  readonly plane: RelayPlane;
  readonly close: () => Promise<void>;
}

/** Connections for one test; all are destroyed after it. */
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
  readonly destroyAll: () => void;
}

interface BodyEnds {
  readonly origin: Socket;
  readonly source: Socket;
  readonly sink: Socket;
  readonly client: Socket;
  readonly received: Received;
}

/** What every relay plane promises, whatever moves the bytes. */
export function promiseRelay(open: () => Promise<OpenedPlane>): void {
  let opened: OpenedPlane;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  const pair = async (): Promise<[Socket, Socket]> => {
    const made = await socketPair();
    sockets.push(...made);
    return made;
  };
  const join = (down: Socket, up: Socket, options: Partial<TunnelOptions> = {}) => {
    const { signal } = new AbortController();
    const limits = { silenceMs: LONG_MS, halfClosedSilenceMs: LONG_MS };
    return opened.plane.tunnel(down, up, { ...limits, signal, ...options });
  };
  const destroyAll = () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  const connections: SuiteConnections = {
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
      return opened.plane.body(source, sink, { ...limits, sizeBytes, signal, ...options });
    },
    destroyAll,
  };
  afterEach(destroyAll);

  describe('a tunnel', () => {
    promiseTunnel(connections);
  });
  describe('a body', () => {
    promiseBody(connections);
  });
}
