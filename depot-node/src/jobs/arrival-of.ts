import type { IncomingMessage } from 'node:http';
import { clientPrefix } from '@longhaul/shared';
import type { Arrival } from './job-table.ts';

/** How a client's request arrives: from which network, and whether it resumes. */
export function arrivalOf(request: IncomingMessage): Extract<Arrival, { readonly from: 'client' }> {
  const prefix = clientPrefix(request.socket.remoteAddress ?? '');
  return { from: 'client', prefix, hasRange: request.headers.range !== undefined };
}
