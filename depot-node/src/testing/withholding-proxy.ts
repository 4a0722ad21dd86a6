import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { freePort, listenAnywhere } from './saboteur.ts';

/**
 * Stands in front of a depot: what is sent to it arrives in small pieces, what it answers only once that is
 * released.
 */
export interface WithholdingProxy {
  /** What the depot must tell others. */
  readonly port: number;
  /** Where the depot is to listen itself: a port that was free a moment ago. */
  readonly depotPort: number;
  /** Lets all answers through, those that wait and those that come. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
}

/** Less than the head of any request between depots. */
const PIECE_BYTES = 200;

export async function startWithholdingProxy(): Promise<WithholdingProxy> {
  const depotPort = await freePort();
  const released = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer((outer) => {
    const inner = connect({ port: depotPort, host: '127.0.0.1', noDelay: true });
    for (const socket of [outer, inner]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        outer.destroy();
        inner.destroy();
        sockets.delete(socket);
      });
    }
    void inPieces(outer, inner);
    void released.promise.then(() => inner.pipe(outer));
  });
  const port = await listenAnywhere(server);
  return {
    port,
    depotPort,
    release: released.resolve,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Passes bytes on so that the receiver meets each piece for itself. */
async function inPieces(from: Socket, to: Socket): Promise<void> {
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
        to.write(chunk.subarray(start, start + PIECE_BYTES));
        await nextTurn();
        await nextTurn();
      }
    }
    to.end();
  } catch {
    to.destroy();
  }
}
