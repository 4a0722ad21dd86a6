import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type ErrorCode, formatAuthority, LonghaulError, MAX_HEAD_BYTES } from '@longhaul/shared';
import {
  allowHalfClose,
  answerBrokenRequest,
  type ConnectionLimiter,
  LISTENER_GROUPS,
  refuseOnSocket,
  type TlsMaterial,
  TlsWatch,
  Turns,
} from '@longhaul/shared/service';

/**
 * TLS handshake and request head take a few packets; who needs longer is broken or keeps connections busy on
 * purpose.
 */
const HEAD_TIMEOUT_MS = 10_000;
/** The longest body is a heartbeat of 256 KiB. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Every answer is small and made at once: whoever leaves one unread for so long has gone. */
const UNREAD_TIMEOUT_MS = 30_000;
/** How late a timeout may be noticed; Node would look every 30 s. */
const TIMEOUT_CHECK_MS = 1_000;
/**
 * Between two requests of one connection: load balancers, which keep theirs idle for 60 s, would send one
 * into its end. Depots' heartbeats are five seconds apart.
 */
const KEEP_ALIVE_MS = 75_000;
/** Running requests get this long when the server closes; all of them are short. */
const CLOSE_GRACE_MS = 1000;

interface HttpServerInit {
  readonly tls: TlsMaterial | undefined;
  readonly limiter: ConnectionLimiter;
  /** Told of what was refused before it became a request: broken ones, and too many of them that wait. */
  readonly onRefused: (code: ErrorCode) => void;
  readonly headTimeoutMs?: number;
  readonly unreadTimeoutMs?: number;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** `http` or `https` and the address as a URL; a wildcard address becomes the loopback one. */
  readonly url: string;
}

/** One HTTP or HTTPS listener with this service's limits. */
export class HttpServer {
  readonly #server: Server | HttpsServer;
  readonly #tls: boolean;

  constructor(serve: RequestListener, init: HttpServerInit) {
    const { tls, limiter, headTimeoutMs = HEAD_TIMEOUT_MS, unreadTimeoutMs = UNREAD_TIMEOUT_MS } = init;
    const turns = new Turns();
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      // One read may bring many requests; those behind the one that was too many have nobody to answer.
      if (request.socket.destroyed || turns.take(request, response, () => serve(request, response))) return;
      init.onRefused('too-many-waiting');
      request.socket.destroy();
    };
    const limits = {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: headTimeoutMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    };
    this.#tls = tls !== undefined;
    this.#server = tls
      ? createHttpsServer({ ...limits, ...secureWith(tls), handshakeTimeout: headTimeoutMs }, listener)
      : createHttpServer(limits, listener);
    allowHalfClose(this.#server);
    // Node answers what expects more than to go on past the listener for requests.
    this.#server.on('checkExpectation', listener);
    // Node hands over the connection of a CONNECT, and none of its own limits holds there any more.
    this.#server.on('connect', (_request, socket) => {
      if (turns.isBusy(socket)) {
        socket.destroy();
        return;
      }
      const refusal = new LonghaulError('method-not-allowed');
      refuseOnSocket(socket, refusal, { Allow: 'GET, HEAD' });
      limiter.noteBroken(socket);
      init.onRefused(refusal.code);
    });
    this.#server.on('clientError', (error, socket) => {
      // The answer to it would become a part of the one that is on its way.
      if (turns.isBusy(socket)) {
        socket.destroy();
        return;
      }
      const code = answerBrokenRequest(error, socket);
      if (code === undefined) return;
      limiter.noteBroken(socket);
      init.onRefused(code);
    });
    this.#server.setTimeout(unreadTimeoutMs);
    if (tls) {
      const watch = new TlsWatch();
      this.#server.on('connection', (raw) => watch.add(raw));
      this.#server.on('secureConnection', (secured) => watch.noteSecured(secured));
    }
    limiter.guard(this.#server);
  }

  /** Binds the address; port 0 lets the system choose. Rejects when it cannot be bound. */
  listen({ host, port }: { readonly host: string; readonly port: number }): Promise<Listening> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        const bound = (this.#server.address() as AddressInfo).port;
        const authority = formatAuthority(reachableHost(host), bound);
        resolve({ host, port: bound, url: `${this.#tls ? 'https' : 'http'}://${authority}` });
      });
    });
  }

  /** New connections get this certificate; those that stand go on. A listener without TLS stays so. */
  renewCertificate(tls: TlsMaterial): void {
    if (this.#server instanceof HttpsServer) this.#server.setSecureContext(secureWith(tls));
  }

  /** Accepts nothing more, lets running requests finish for a second, then breaks off what is left. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const force = setTimeout(() => this.#server.closeAllConnections(), CLOSE_GRACE_MS);
    this.#server.closeIdleConnections();
    await closed;
    clearTimeout(force);
  }
}

/** What a listener is secured with, whichever certificate it has. */
function secureWith(tls: TlsMaterial) {
  return { ...tls, ecdhCurve: LISTENER_GROUPS };
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
