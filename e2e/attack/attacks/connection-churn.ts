import type { Attack } from '../attack.ts';
import { comeAndGo } from '../attacker/come-and-go.ts';

const PER_SECOND = 800;

export const CONNECTION_CHURN: Attack = {
  name: 'connection-churn',
  does: `opens ${PER_SECOND} connections a second to a depot and to the master, and resets each at once`,
  promise: 'the others are served meanwhile, and nothing stays',
  worlds: ['splice'],
  quick: [],
  strike: (ground) => comeAndGo(ground, PER_SECOND, (socket) => void socket.resetAndDestroy()),
};
