/**
 * Listens where nobody may come: `node watchdog-main.ts <address>:<port>...`. Tells its parent of every
 * connection, with the first bytes that came over it.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** Long enough for a request head that shows what the visitor wanted. */
const LISTEN_MS = 200;

for (const place of process.argv.slice(2)) {
  const at = place.lastIndexOf(':');
  const server = createServer((socket) => void tell(place, socket));
  server.listen(Number(place.slice(at + 1)), place.slice(0, at));
  await once(server, 'listening');
}
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0));
process.send?.({ ready: { url: 'tcp://watchdog' } });

async function tell(place: string, socket: Socket): Promise<void> {
  socket.on('error', () => socket.destroy());
  const from = socket.remoteAddress ?? '';
  const signal = AbortSignal.timeout(LISTEN_MS);
  const [first] = (await once(socket, 'data', { signal }).catch(() => [Buffer.alloc(0)])) as [Buffer];
  const said = first.toString('latin1').split('\r\n', 1)[0] ?? '';
  process.send?.({ visit: { place, from, said: said.slice(0, 80) } });
  socket.destroy();
}
