import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HEADERS, isInNetworks, LonghaulError } from '@longhaul/shared';
import type { Registry } from 'prom-client';
import { sayFarewell } from '../sockets/farewell.ts';
import type { LegOptions } from '../sockets/leg-options.ts';
import { createListener, type TlsMaterial } from '../sockets/listener.ts';
import { resetConnection } from '../sockets/reset.ts';
import { SAFETY_HEADERS } from './client-headers.ts';
import { sendRefusal } from './refusal.ts';
import { Turns } from './turns.ts';

interface DepotServerComponents {
  readonly ownId: string;
  readonly tls: TlsMaterial | undefined;
  /** Options of accepted connections. */
  readonly sockets: LegOptions;
  readonly handleRelay: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly handleConnect: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
  readonly metrics: Registry;
  readonly metricsNetworks: readonly string[];
  /** Whether the depot takes nothing new. */
  readonly isClosing: () => boolean;
}

/** The depot's one listener, not yet bound: which request goes where, and what answers the ones that are none. */
export function createDepotServer(components: DepotServerComponents): Server {
  const { ownId, handleRelay, handleConnect, isClosing } = components;
  const turns = new Turns();
  const server = createListener(
    (request, response) => {
      if (isClosing()) sendRefusal(request, response, new LonghaulError('shutting-down'), ownId);
      else if (request.url === '/healthz') response.writeHead(200, SAFETY_HEADERS).end('ok\n');
      else if (request.url === '/metrics') void sendMetrics(components, request, response);
      else {
        turns.take(request.socket, () =>
          handleRelay(request, response).catch(() => resetConnection(request.socket)),
        );
      }
    },
    components.tls,
    components.sockets,
  );
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A tunnel cannot begin while an answer is still on its way over the same connection.
    if (turns.isBusy(socket)) resetConnection(socket);
    else handleConnect(request, socket, head).catch(() => resetConnection(socket));
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    sendRefusal(request, response, new LonghaulError('bad-request'), ownId);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The answer to it would become a part of the body that is on its way.
    if (turns.isBusy(socket)) resetConnection(socket);
    else answerBrokenRequest(error, socket, ownId);
  });
  return server;
}

async function sendMetrics(
  { ownId, metrics, metricsNetworks }: DepotServerComponents,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Behind a reverse proxy on this machine everybody would come from loopback.
  const isForwarded = 'x-forwarded-for' in request.headers || 'forwarded' in request.headers;
  if (isForwarded || !isInNetworks(request.socket.remoteAddress ?? '', metricsNetworks)) {
    sendRefusal(request, response, new LonghaulError('not-found'), ownId);
    return;
  }
  response.setHeader('Content-Type', metrics.contentType);
  response.end(await metrics.metrics());
}

/** A request that is not HTTP gets the registered answer instead of Node's. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, ownId: string): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const failure = new LonghaulError(tooLarge ? 'request-too-large' : 'bad-request');
  sayFarewell(
    socket,
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `X-Content-Type-Options: nosniff\r\n${HEADERS.error}: ${failure.code}\r\n${HEADERS.depot}: ${ownId}\r\n` +
      `Connection: close\r\n\r\n${failure.code}: ${failure.message}\n`,
  );
}
