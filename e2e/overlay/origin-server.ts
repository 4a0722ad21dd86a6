import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { transferSeconds } from '@longhaul/shared';

/** A file of the origin, with what its answer says beside the bytes. */
export interface OriginFile {
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** How fast it is sent, in bits per second, where that is not as fast as everything else. */
  readonly rateBps?: number;
}

/** A page, or anything else that is not a file with ranges. */
export type OriginHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** More than any test looks at; an origin that runs for hours must not keep every request, with its socket, for ever. */
const MOST_KEPT_REQUESTS = 1000;

export interface OriginServer {
  readonly port: number;
  /** The last {@link MOST_KEPT_REQUESTS} requests, in the order in which they came. */
  readonly requests: readonly IncomingMessage[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** Cuts the next answer to a depot for more than so many body bytes of `path`, by a reset. */
  readonly cutForDepots: (path: string, afterBytes: number) => void;
  /** Breaks every answer with this path, running ones too, by a reset, until it is set back. */
  readonly setAway: (path: string, isAway: boolean) => void;
  /** Cuts that no answer has come to yet. */
  readonly cutsWaiting: () => number;
  readonly close: () => Promise<void>;
}

export interface OriginSpec {
  readonly listenHost: string;
  readonly port?: number;
  /** How fast each answer is sent, in bits per second; as fast as the connection takes it when left out. */
  readonly rateBps?: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** What stands at a path, without its query, for this request. */
  readonly content: (path: string, request: IncomingMessage) => OriginFile | OriginHandler | undefined;
  /** Told of every request before it is answered. */
  readonly onRequest?: (request: IncomingMessage) => void;
}

/** A web server with single ranges and validators, which remembers what it was asked and can break off on purpose. */
export async function startOrigin(spec: OriginSpec): Promise<OriginServer> {
  const requests: IncomingMessage[] = [];
  const cuts = new Map<string, number>();
  const away = new Set<string>();
  let connections = 0;

  const takeCut = (request: IncomingMessage, path: string) => {
    const afterBytes = cuts.get(path);
    // The add-on's probe asks for one byte and is no transfer to cut.
    if (afterBytes === undefined || !request.headers.via || request.headers.range === 'bytes=0-0')
      return undefined;
    cuts.delete(path);
    return afterBytes;
  };
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    spec.onRequest?.(request);
    if (requests.push(request) > MOST_KEPT_REQUESTS) requests.shift();
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const content = spec.content(path, request);
    const isAway = () => away.has(path);
    if (isAway()) request.socket.resetAndDestroy();
    else if (content === undefined)
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not here\n');
    else if (typeof content === 'function') content(request, response);
    else
      sendFile(request, response, content, content.rateBps ?? spec.rateBps ?? Infinity, {
        cutBytes: takeCut(request, path),
        isAway,
      });
  };
  const server = spec.tls ? createHttpsServer(spec.tls, answer) : createHttpServer(answer);
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: spec.listenHost, port: spec.port ?? 0 }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    cutForDepots: (path, afterBytes) => cuts.set(path, afterBytes),
    setAway: (path, isAway) => void (isAway ? away.add(path) : away.delete(path)),
    cutsWaiting: () => cuts.size,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** How an answer breaks off before its end. */
interface Breaks {
  /** After so many body bytes. */
  readonly cutBytes: number | undefined;
  /** As soon as this is so. */
  readonly isAway: () => boolean;
}

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: OriginFile,
  rateBps: number,
  breaks: Breaks,
): void {
  const { body } = file;
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Accept-Ranges': 'bytes',
    // Else Chromium keeps the aborted original and asks odd ranges later.
    'Cache-Control': 'no-store',
    ETag: '"v1"',
    'Last-Modified': 'Sun, 01 Nov 2026 12:00:00 GMT',
    ...file.headers,
  };
  const range = /^bytes=([0-9]+)-([0-9]*)$/.exec(request.headers.range ?? '');
  const isStale = request.headers['if-range'] !== undefined && request.headers['if-range'] !== headers.ETag;
  const start = range && !isStale ? Number(range[1]) : 0;
  const end = range?.[2] && !isStale ? Math.min(Number(range[2]), body.length - 1) : body.length - 1;
  if (start >= body.length) {
    response
      .writeHead(416, { ...headers, 'Content-Range': `bytes */${body.length}`, 'Content-Length': 0 })
      .end();
    return;
  }
  const part = range && !isStale ? { 'Content-Range': `bytes ${start}-${end}/${body.length}` } : {};
  response.writeHead(range && !isStale ? 206 : 200, {
    ...headers,
    ...part,
    'Content-Length': end - start + 1,
  });
  if (request.method === 'HEAD') response.end();
  else void sendPaced(response, body.subarray(start, end + 1), rateBps, breaks);
}

/** Small, so that a slow rate is even. */
const PACED_CHUNK_BYTES = 32 * 1024;
/** Without a rate only backpressure counts: few writes, but never the whole file encrypted in one go. */
const UNPACED_CHUNK_BYTES = 1024 * 1024;

/** Sends at `rateBps`, as a far link would, or without timers when that is Infinity; resets the connection where it breaks. */
async function sendPaced(
  response: ServerResponse,
  bytes: Buffer,
  rateBps: number,
  { cutBytes, isAway }: Breaks,
): Promise<void> {
  const started = performance.now();
  const end = cutBytes ?? bytes.length;
  const chunkBytes = Number.isFinite(rateBps) ? PACED_CHUNK_BYTES : UNPACED_CHUNK_BYTES;
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  for (let sent = 0; sent < end && !response.destroyed && !isAway(); ) {
    const chunk = bytes.subarray(sent, Math.min(sent + chunkBytes, end));
    sent += chunk.length;
    if (!response.write(chunk)) await once(response, 'drain', { signal: closed.signal }).catch(() => {});
    const aheadMs = transferSeconds(sent, rateBps) * 1000 - (performance.now() - started);
    if (aheadMs > 1) await delay(aheadMs);
  }
  if (cutBytes === undefined && !isAway()) response.end();
  else response.socket?.resetAndDestroy();
}
