import { once } from 'node:events';
import { createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Attack } from '../attack.ts';
import type { Ground } from '../attacker/ground.ts';
import { pace } from '../attacker/pace.ts';

const PER_SECOND = 500;
/** The key exchange that costs who answers most, of those that TLS libraries offer by themselves. */
const DEAREST_CURVE = 'P-521';

export const DEAR_HANDSHAKES: Attack = {
  name: 'dear-handshakes',
  does: `sends ${PER_SECOND} times a second one recorded TLS hello, which offers ${DEAREST_CURVE} alone, to a depot and to the master, and leaves when they answer`,
  promise: 'the others are served meanwhile: who answers does no work that costs the attacker nothing',
  worlds: ['tls'],
  quick: ['tls'],
  strike,
};

async function strike(ground: Ground): Promise<void> {
  const { signal, tally } = ground;
  const hello = await recordHello();
  let sent = 0;
  const send = async () => {
    sent += 1;
    const socket = await ground.open(sent % 2 === 0 ? 'd1' : 'master', { tls: false });
    tally.answer(socket.destroyed ? 'not taken' : 'taken');
    if (socket.destroyed) return;
    socket.once('data', () => socket.destroy()).once('end', () => socket.destroy());
    socket.write(hello);
  };
  await pace(PER_SECOND, signal, () => {
    tally.case();
    void send();
  });
}

/** What a client says first, which holds as often as it is sent. */
async function recordHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('nobody listens');
  const client = connectTls({ port: address.port, host: '127.0.0.1', ecdhCurve: DEAREST_CURVE });
  client.on('error', () => undefined);
  const [heard] = await once(server, 'connection');
  const [hello] = await once(heard, 'data');
  heard.destroy();
  client.destroy();
  server.close();
  return hello as Buffer;
}
