import type { Attack } from '../attack.ts';
import { comeAndGo } from '../attacker/come-and-go.ts';

const PER_SECOND = 60;

export const HANDSHAKE_FLOODS: Attack = {
  name: 'handshake-floods',
  does: `makes ${PER_SECOND} TLS handshakes a second with a depot and with the master, and leaves`,
  promise: 'the others are served meanwhile',
  worlds: ['tls'],
  quick: [],
  strike: (ground) => comeAndGo(ground, PER_SECOND, (socket) => void socket.destroy()),
};
