import type { Attack } from '../attack.ts';
import type { Ground, Target } from '../attacker/ground.ts';
import { beginHalfRequests } from '../attacker/half-requests.ts';

/** More than any service here holds at once. */
const CONNECTIONS = 10_050;

function beginHeads(ground: Ground, target: Target): Promise<void> {
  return beginHalfRequests(ground, {
    connections: CONNECTIONS,
    perSecond: 2500,
    targets: [target],
    beginning: 'GET /a HTTP/1.1\r\nHost: ',
    drip: Buffer.from('a'),
    dripMs: 1500,
  });
}

export const HALF_HEADS: Attack = {
  name: 'half-heads',
  does: `begins ${CONNECTIONS} requests from one network at a depot and ends none`,
  promise: 'one network does not hold the connections of all',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  strike: (ground) => beginHeads(ground, 'd1'),
};

export const HALF_HEADS_AT_MASTER: Attack = {
  name: 'half-heads-at-master',
  does: `begins ${CONNECTIONS} requests from one network at the master and ends none`,
  promise: 'one network does not hold the connections of all',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  strike: (ground) => beginHeads(ground, 'master'),
};
