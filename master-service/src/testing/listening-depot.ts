import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressProofText, encodeBase64url, HEADERS, parseChallengeTarget } from '@longhaul/shared';
import type { TestDepot } from './test-depot.ts';

export interface ListeningDepot {
  readonly port: number;
  /** Challenges that came. */
  readonly asked: () => number;
  /** What was said beside the last one. */
  readonly word: () => string | undefined;
  /** The last one. */
  readonly challenge: () => string;
  readonly close: () => Promise<void>;
}

/** A listener at 127.0.0.1 that proves to be `depot`, reached under the name `host`. */
export async function listenAs(depot: TestDepot, host = '127.0.0.1'): Promise<ListeningDepot> {
  let asked = 0;
  let word: string | undefined;
  let last = '';
  const server = createServer((request, response) => {
    asked += 1;
    const challenge = parseChallengeTarget(request.url ?? '');
    if (!challenge.ok) throw challenge.error;
    word = request.headers[HEADERS.signature]?.toString();
    last = challenge.value;
    const text = addressProofText(depot.id, { host, port, tls: false }, challenge.value);
    response.end(JSON.stringify({ id: depot.id, signature: encodeBase64url(depot.key.sign(text)) }));
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    asked: () => asked,
    word: () => word,
    challenge: () => last,
    close: () => closeServer(server),
  };
}

export function listenOnLoopback(server: Server, host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port));
  });
}

export function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
