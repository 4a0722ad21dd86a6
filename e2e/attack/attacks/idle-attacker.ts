import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { Attack } from '../attack.ts';
import { openConnection } from '../attacker/open-connection.ts';

/** As much as any attacker of this suite may send. */
const CHUNK = Buffer.alloc(64 * 1024);

/** The control: what the machine's scheduler does to a bystander, while nobody attacks. */
export const IDLE_ATTACKER: Attack = {
  name: 'idle-attacker',
  does: 'sends to itself as fast as it can, and touches nobody: a control of the measurement',
  promise: 'what the others feel is the attack, and not the machine',
  worlds: ['splice', 'streams', 'tls'],
  quick: ['splice'],
  strike: async ({ facts: { own }, signal, tally }) => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume());
    await once(server.listen(0, own.client), 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = await openConnection({ host: own.client, port }, { from: own.client, tls: false });
    while (!signal.aborted) {
      tally.case();
      if (!socket.write(CHUNK)) await once(socket, 'drain');
    }
    socket.destroy();
    server.close();
  },
};
