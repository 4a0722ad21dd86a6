import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { formatAuthority } from '@longhaul/shared';
import type { DepotRecord } from './depot-store.ts';

/** Connections that are kept for depots. */
export interface DepotAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

interface DepotRequest {
  /** Where the depot has proved to be. */
  readonly address: string;
  readonly path: string;
  readonly timeoutMs: number;
  readonly agents: DepotAgents;
  readonly onAnswer: (answer: IncomingMessage) => void;
}

/** Sends a depot one `GET`. Resolves when the exchange is over, however it ended; never rejects. */
export function requestDepot(
  { host, port, tls }: DepotRecord,
  { address, path, timeoutMs, agents, onAnswer }: DepotRequest,
): Promise<void> {
  const common = {
    host: address,
    port,
    path,
    headers: { host: formatAuthority(host, port) },
    signal: AbortSignal.timeout(timeoutMs),
  };
  const outgoing = tls
    ? requestHttps({ ...common, agent: agents.https, ...(isIP(host) ? {} : { servername: host }) })
    : requestHttp({ ...common, agent: agents.http });
  outgoing.once('response', (answer) => {
    // What breaks off is no answer.
    answer.on('error', () => {});
    onAnswer(answer);
  });
  // A depot that cannot be reached is found out by its heartbeats.
  outgoing.on('error', () => {});
  outgoing.end();
  return new Promise((resolve) => {
    outgoing.once('close', resolve);
  });
}
