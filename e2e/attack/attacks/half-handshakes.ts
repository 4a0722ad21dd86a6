import type { Attack } from '../attack.ts';
import { beginHalfRequests } from '../attacker/half-requests.ts';

const CONNECTIONS = 6000;
/** The beginning of a record that announces a handshake of 512 bytes, of which one comes now and then. */
const BEGINNING = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);

export const HALF_HANDSHAKES: Attack = {
  name: 'half-handshakes',
  does: `begins ${CONNECTIONS} TLS handshakes at a depot and at the master, byte by byte, and ends none`,
  promise: 'who has not come through a handshake holds next to nothing, and not for long',
  worlds: ['tls'],
  quick: ['tls'],
  strike: (ground) =>
    beginHalfRequests(ground, {
      connections: CONNECTIONS,
      perSecond: 1500,
      targets: ['d1', 'master'],
      tls: false,
      beginning: BEGINNING,
      drip: Buffer.of(0),
      dripMs: 1500,
    }),
};
