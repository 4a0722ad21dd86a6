import type { IncomingMessage } from 'node:http';
import { clientAddress, clientPrefix } from '@longhaul/shared';

/** How a job's next connection arrives from a client. */
export interface ClientArrival {
  readonly from: 'client';
  /** The client itself: its address, or /64. */
  readonly address: string;
  /** Its /24 or /48. */
  readonly network: string;
  readonly hasRange: boolean;
}

/** How it arrives from the previous depot: to go on to another depot or, at the exit depot, to the origin. */
export interface DepotArrival {
  readonly from: 'depot';
  /** Id of the previous depot. */
  readonly depot: string;
  readonly isExit: boolean;
}

export type Arrival = ClientArrival | DepotArrival;

/** How a client's request arrives. */
export function arrivalOf({ socket, headers }: IncomingMessage): ClientArrival {
  const { remoteAddress = '' } = socket;
  return {
    from: 'client',
    address: clientAddress(remoteAddress),
    network: clientPrefix(remoteAddress),
    hasRange: headers.range !== undefined,
  };
}

/** Whose share of what is bounded a connection takes: its client's network, or the depot that sends it on. */
export function takerOf(arrival: Arrival): string {
  return arrival.from === 'client' ? `client ${arrival.network}` : `depot ${arrival.depot}`;
}
