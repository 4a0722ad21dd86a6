/**
 * Long TCP flows: `sink` discards what comes, and says how much that was when it is asked to `count`;
 * `source` sends as fast as it may. Ends with the program that started it.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';

/** Large enough that writing costs little; the kernel's buffer is the one that fills. */
const CHUNK = Buffer.alloc(256 * 1024);

const sockets = new Set<Socket>();
let receivedBytes = 0;
process.on('message', () => process.send?.({ receivedBytes }));
process.on('disconnect', stop);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    flows: { type: 'string', default: '1' },
  },
});
const { host } = values;
const port =
  positionals[0] === 'sink' ? await listen() : await send(Number(values.port), Number(values.flows));
process.send?.({ ready: { url: `tcp://${host}:${port}` } });

/** Listens and discards; gives the port. */
async function listen(): Promise<number> {
  const server = createServer((socket) => {
    // A reset by the source: that is how flows stop.
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      receivedBytes += chunk.length;
    });
  });
  server.listen(Number(values.port), host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Connects all flows, then lets each send without an end. */
async function send(sinkPort: number, flows: number): Promise<number> {
  await Promise.all(Array.from({ length: flows }, () => dial(sinkPort)));
  for (const socket of sockets) {
    const fill = () => {
      while (socket.write(CHUNK));
    };
    socket.on('drain', fill);
    fill();
  }
  return sinkPort;
}

async function dial(sinkPort: number): Promise<void> {
  const socket = connect({ host, port: sinkPort });
  await once(socket, 'connect');
  sockets.add(socket);
}

/** Closed in the usual way, a flow would go on until the kernel has sent all that was written. */
function stop(): void {
  for (const socket of sockets) socket.on('error', () => undefined).resetAndDestroy();
  process.exit();
}
