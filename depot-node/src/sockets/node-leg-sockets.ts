import { connect } from 'node:net';
import type { LegClass, LegOptions } from './leg-options.ts';
import type { LegSockets } from './leg-sockets.ts';

/** The options of a leg that Node itself can set. */
export type NodeLegOptions = Pick<LegOptions, 'noDelay' | 'keepAliveSeconds'>;

/** What Node alone can do: no delay, keep-alive. */
export function createNodeLegSockets(table: Record<LegClass, NodeLegOptions>): LegSockets {
  return {
    isTuned: false,
    connect: (legClass, address, port) => {
      const { noDelay, keepAliveSeconds } = table[legClass];
      return connect({
        host: address,
        port,
        noDelay,
        keepAlive: true,
        keepAliveInitialDelay: keepAliveSeconds * 1000,
        // Both directions end on their own: a relay must pass on a half-close.
        allowHalfOpen: true,
      });
    },
    noteConnected: () => {},
    rttMsOf: () => undefined,
    reclassify: () => {},
    bind: () => undefined,
    noteAccepted: undefined,
    mptcp: { established: 0, fallbacks: 0 },
  };
}
