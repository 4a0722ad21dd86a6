import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** How a depot dies for its neighbours: its connections end, are reset, or nothing is heard of it any more. */
export type Death = 'fin' | 'rst' | 'silence';

/** Stands in front of a depot and lets it die for everybody else, at once and for good. */
export interface Saboteur {
  /** What the depot must tell others. */
  readonly port: number;
  /** Where the depot is to listen itself: a port that was free a moment ago. */
  readonly depotPort: number;
  readonly strike: (death: Death) => void;
  readonly close: () => Promise<void>;
}

export async function startSaboteur(): Promise<Saboteur> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const unanswered = new Set<Socket>();
  const depotPort = await freePort();
  let isSilent = false;
  const server = createServer({ allowHalfOpen: true }, (outer) => {
    outer.on('error', () => {});
    // Somebody who is not heard of accepts nothing, either; the kernel does, and then nobody answers.
    if (isSilent) {
      unanswered.add(outer);
      return;
    }
    const inner = connect({ port: depotPort, host: '127.0.0.1', allowHalfOpen: true });
    inner.on('error', () => outer.resetAndDestroy());
    outer.on('error', () => inner.resetAndDestroy());
    outer.pipe(inner);
    inner.pipe(outer);
    const pair = [outer, inner] as const;
    pairs.add(pair);
    outer.once('close', () => {
      inner.destroy();
      pairs.delete(pair);
    });
    inner.once('close', () => outer.destroySoon());
  });
  const port = await listenAnywhere(server);
  const strike = (death: Death) => {
    isSilent = death === 'silence';
    if (!isSilent) server.close();
    for (const [outer, inner] of pairs) {
      outer.unpipe(inner);
      inner.unpipe(outer);
      for (const socket of [outer, inner]) {
        if (death === 'rst') socket.resetAndDestroy();
        else if (death === 'fin') socket.end(() => socket.destroy());
        else socket.resume();
      }
    }
  };
  return {
    port,
    depotPort,
    strike,
    close: async () => {
      for (const socket of [...unanswered, ...[...pairs].flat()]) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** A port that nobody listens on, below those that the kernel gives to connections: none of them takes it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = randomInt(10_000, 32_768);
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** The port of 127.0.0.1 that a server listens on from now on. */
export async function listenAnywhere(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('it does not listen');
  return address.port;
}
