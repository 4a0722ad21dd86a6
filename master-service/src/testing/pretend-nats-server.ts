import { createServer, type Server, type Socket } from 'node:net';

export interface PretendedServer {
  readonly url: string;
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  readonly close: () => void;
}

/**
 * Something that listens where a NATS server should, and does to each connection what a test says. The caller
 * closes it.
 */
export async function pretendNatsServer(greet: (socket: Socket) => void): Promise<PretendedServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    greet(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `nats://127.0.0.1:${(server.address() as { port: number }).port}`,
    sockets,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
