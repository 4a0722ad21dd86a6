import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { formatAuthority, HEADERS, LonghaulError, MAX_HEAD_BYTES } from '@longhaul/shared';

/** A request head takes a few packets; who needs longer is broken or keeps connections busy on purpose. */
const HEAD_TIMEOUT_MS = 10_000;
/** The longest body is a heartbeat of 256 KiB. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Running requests get this long when the server closes; all of them are short. */
const CLOSE_GRACE_MS = 1000;

export interface TlsFiles {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** `http` or `https` and the address as a URL; a wildcard address becomes the loopback one. */
  readonly url: string;
}

/** One HTTP or HTTPS listener with this service's limits. */
export class HttpServer {
  readonly #server: Server;
  readonly #tls: boolean;

  constructor(listener: RequestListener, tls: TlsFiles | undefined) {
    const limits = {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    };
    this.#tls = tls !== undefined;
    this.#server = tls
      ? createHttpsServer({ ...limits, ...tls }, listener)
      : createHttpServer(limits, listener);
    this.#server.on('clientError', answerClientError);
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

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

// What Node's parser refuses never becomes a request, so it is answered on the socket.
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = new LonghaulError(
    error.code === 'HPE_HEADER_OVERFLOW' ? 'request-too-large' : 'bad-request',
  );
  const body = `${refusal.code}: ${refusal.message}\n`;
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} ${refusal.status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      `${HEADERS.error}: ${refusal.code}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
