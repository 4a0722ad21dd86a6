import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { MAX_HEAD_BYTES } from '@longhaul/shared';
import { type ConnectionLimiter, createServer, TlsWatch, UNUSED_BACK_MS } from '@longhaul/shared/service';
import type { SharedCounts } from '../tls/shared-counts.ts';
import { DEFAULT_LEG_TABLE } from './leg-options.ts';
import type { LegSockets } from './leg-sockets.ts';
import type { ListenerCertificate } from './listener-certificate.ts';
import type { NodeLegOptions } from './node-leg-sockets.ts';
import { rememberRawSocket } from './reset.ts';

/** A client that needs longer than this for its TLS handshake or its request head is dropped. */
const HEAD_TIMEOUT_MS = 15_000;
/** How late that may be noticed; Node would look every 30 s. */
const TIMEOUT_CHECK_MS = 1000;
/** Connections taken in one turn of the event loop; each costs a tenth of a millisecond until its request is read. */
const MOST_ACCEPTED_AT_ONCE = 64;
/** Idle kept connections; longer than browsers take between two ranges of a download. */
const KEEP_ALIVE_MS = 30_000;

/**
 * The one listener of a depot: HTTP, or HTTPS where there is a certificate. `legs` is what Node sets on each accepted
 * connection, on every system.
 */
export function createListener(
  onRequest: RequestListener,
  certificate: ListenerCertificate | undefined,
  legs: NodeLegOptions = DEFAULT_LEG_TABLE.client,
): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: 2 * HEAD_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: legs.noDelay,
      // A request without it is answered like any other, with a code; nothing here depends on Host.
      requireHostHeader: false,
      keepAlive: true,
      keepAliveInitialDelay: legs.keepAliveSeconds * 1000,
    },
    onRequest,
  );
  if (certificate) secureConnections(server, certificate);
  return server;
}

/**
 * Puts TLS under an HTTP server. Unlike `https.Server` this knows the TCP socket below each connection, which a cut
 * body needs to be reset.
 */
function secureConnections(server: Server, certificate: ListenerCertificate): void {
  const accept = server.listeners('connection')[0];
  server.removeAllListeners('connection');
  const watch = new TlsWatch();
  const secureByNode = (raw: Socket) => {
    const secured = new TLSSocket(raw, {
      isServer: true,
      secureContext: certificate.context,
      SNICallback: (name, answer) => answer(null, certificate.contextFor(name)),
      ALPNProtocols: ['http/1.1'],
    });
    rememberRawSocket(secured, raw);
    watch.add(raw);
    watch.noteSecured(secured);
    const timer = setTimeout(() => raw.destroy(), HEAD_TIMEOUT_MS);
    const drop = () => raw.destroy();
    // Whoever ends or breaks in the middle of its handshake has gone.
    secured.once('error', drop);
    secured.once('end', drop);
    raw.once('close', () => clearTimeout(timer));
    secured.once('secure', () => {
      clearTimeout(timer);
      secured.off('error', drop).off('end', drop);
      accept?.call(server, secured);
    });
  };
  server.on('connection', (raw: Socket) => {
    const securing = certificate.ending?.accept(raw, certificate.material);
    if (!securing) {
      secureByNode(raw);
      return;
    }
    const timer = setTimeout(securing.drop, HEAD_TIMEOUT_MS);
    securing.secured
      .then(
        (secured) => accept?.call(server, secured),
        // Whoever ends or breaks in the middle of its handshake has gone.
        () => undefined,
      )
      .finally(() => clearTimeout(timer));
  });
}

/** Connections that threads shall take and secure, as far as a limiter's bounds allow. */
export interface ThreadListening {
  readonly certificate: ListenerCertificate;
  readonly limiter: Pick<ConnectionLimiter, 'limits' | 'noteRefused'>;
  /** What the limiter counts others' connections with. */
  readonly counts: SharedCounts;
}

/**
 * Listens; gives the address really bound. With `sockets` the accepted connections have the options of their
 * class from their first packet on. With `byThreads` the server gets them when their first request comes,
 * where that is possible.
 */
export function listen(
  server: Server,
  host: string,
  port: number,
  sockets?: LegSockets,
  byThreads?: ThreadListening,
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const descriptor = sockets?.bind(host, port);
    // Before HTTP or TLS reads anything.
    if (sockets?.noteAccepted) server.prependListener('connection', sockets.noteAccepted);
    if (sockets?.accept && descriptor !== undefined)
      takeCrowds(server, sockets.accept.bind(sockets), descriptor);
    const boundPort =
      descriptor === undefined || !byThreads ? undefined : listenByThreads(server, descriptor, byThreads);
    if (boundPort !== undefined) {
      resolve({ address: host, family: isIP(host) === 6 ? 'IPv6' : 'IPv4', port: boundPort });
      return;
    }
    server.once('error', reject);
    server.listen(descriptor === undefined ? { host, port } : { fd: descriptor }, () => {
      server.off('error', reject);
      const address = server.address();
      if (typeof address === 'object' && address) resolve(address);
      else reject(new Error('the listener has no address'));
    });
  });
}

/**
 * Has a server take all connections that wait when it takes one. Node's own loop takes one in each turn
 * (libuv 1.52): whoever comes behind a crowd would wait for as many turns, however short his own request is.
 */
function takeCrowds(
  server: Server,
  accept: (descriptor: number) => Socket | undefined,
  descriptor: number,
): void {
  let isTaking = false;
  server.on('connection', () => {
    if (isTaking) return;
    isTaking = true;
    try {
      // Where threads take connections, the server does not listen.
      for (let taken = 1; taken < MOST_ACCEPTED_AT_ONCE && server.listening; taken += 1) {
        const socket = accept(descriptor);
        if (!socket) break;
        server.emit('connection', socket);
      }
    } finally {
      isTaking = false;
    }
  });
}

/** The port, or nothing where Node must listen. */
function listenByThreads(
  server: Server,
  descriptor: number,
  { certificate, limiter, counts }: ThreadListening,
): number | undefined {
  const { most, reserved, ...ofNetwork } = limiter.limits;
  const listening = certificate.ending?.listen({
    descriptor,
    material: certificate.material,
    limits: { most: most - reserved, ...ofNetwork, unusedBackMs: UNUSED_BACK_MS },
    counts,
    onConnection: (raw) => server.emit('connection', raw),
    onRefused: (network, times) => limiter.noteRefused(network, times),
    // All threads have died: Node takes what comes from now on.
    onDeserted: () => server.listen({ fd: descriptor }),
  });
  if (!listening) return undefined;
  certificate.tellRenewals(listening.renew);
  server.once('close', listening.close);
  // The server looks after its connections from then on.
  server.emit('listening');
  return listening.port;
}
