import type { ServerResponse } from 'node:http';
import { type DepotEntry, depotBaseUrl, formatDepotRelayTarget, HEADERS } from '@longhaul/shared';
import { SAFETY_HEADERS } from '../entry/headers.ts';

/** The paper has 301; browsers keep that, and replay it with a ticket that is over. */
export type RedirectStatus = 301 | 302;

interface NextStop {
  /** The depot that the client goes to. */
  readonly successor: DepotEntry;
  readonly ticket: string;
  readonly path: string;
  readonly jobId: string;
  /** This depot, which then waits for the successor, and the port where it does. */
  readonly depotId: string;
  readonly port: number;
}

/** Sends the client on to the next depot towards it. */
export function sendOn(response: ServerResponse, stop: NextStop, status: RedirectStatus): void {
  const { successor, ticket, path, depotId, port } = stop;
  response.writeHead(status, {
    ...SAFETY_HEADERS,
    'Cache-Control': 'no-store',
    Location: depotBaseUrl(successor) + formatDepotRelayTarget(ticket, path, depotId, port),
    'Content-Length': 0,
    [HEADERS.depot]: depotId,
    [HEADERS.job]: stop.jobId,
  });
  response.end();
}
