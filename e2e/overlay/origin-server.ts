import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setDefaultHighWaterMark } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { transferSeconds } from '@longhaul/shared';

/** A file of the origin, with what its answer says beside the bytes. */
export interface OriginFile {
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** How fast it is sent, in bits per second, where that is not as fast as everything else. */
  readonly rateBps?: number;
  /** Its first bytes, which come at once. */
  readonly promptBytes?: number;
}

/** A page, or anything else that is not a file with ranges. */
export type OriginHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * More than any test looks at; an origin that runs for hours must not keep every request, with its socket,
 * for ever.
 */
const MOST_KEPT_REQUESTS = 1000;

/**
 * Body bytes handed to the kernel, by who had asked for them; what was on its way when a connection ended
 * counts, too.
 */
export interface SentBytes {
  readonly toDepots: number;
  readonly toOthers: number;
}

export interface OriginServer {
  readonly port: number;
  /** The last {@link MOST_KEPT_REQUESTS} requests, in the order in which they came. */
  readonly requests: readonly IncomingMessage[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** What was sent of the file at this path so far. */
  readonly sentBytes: (path: string) => SentBytes;
  /** Cuts the next answer to a depot for more than so many body bytes of `path`, by a reset. */
  readonly cutForDepots: (path: string, afterBytes: number) => void;
  /**
   * Breaks every answer with this path off, running ones too, until it is set back: by a reset, or, where
   * whoever asks meanwhile is answered by `instead`, by the end of the connection.
   */
  readonly setAway: (path: string, isAway: boolean, instead?: OriginHandler) => void;
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

/**
 * More than all answers together that depots ask for ahead on one connection. Where more waits than a
 * socket's mark, Node's server stops reading, and over TLS it then ends the connection at the next bytes
 * (HPE_PAUSED), also within an answer.
 */
const TLS_HIGH_WATER_BYTES = 1024 * 1024;

/** A web server with single ranges and validators, which remembers what it was asked and can break off on purpose. */
export async function startOrigin(spec: OriginSpec): Promise<OriginServer> {
  const requests: IncomingMessage[] = [];
  const cuts = new Map<string, number>();
  const away = new Map<string, OriginHandler>();
  const sent = new Map<string, SentBytes>();
  let connections = 0;

  const sentBytes = (path: string) => sent.get(path) ?? { toDepots: 0, toOthers: 0 };
  const countSent = (path: string, { headers }: IncomingMessage, bytes: number) => {
    const { toDepots, toOthers } = sentBytes(path);
    const isDepot = headers.via !== undefined;
    sent.set(
      path,
      isDepot ? { toDepots: toDepots + bytes, toOthers } : { toDepots, toOthers: toOthers + bytes },
    );
  };

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
    const instead = away.get(path);
    if (instead) instead(request, response);
    else if (content === undefined)
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not here\n');
    else if (typeof content === 'function') {
      response.once('finish', () =>
        countSent(path, request, Number(response.getHeader('Content-Length') ?? 0)),
      );
      content(request, response);
    } else
      sendFile(request, response, content, content.rateBps ?? spec.rateBps ?? Infinity, {
        cutBytes: takeCut(request, path),
        isAway,
        breakOff: (socket) =>
          (away.get(path) ?? cutOff) === cutOff ? socket.resetAndDestroy() : socket.destroy(),
        onSent: (bytes) => countSent(path, request, bytes),
      });
  };
  // Of the whole process: its TLS server takes no mark of its own.
  if (spec.tls) setDefaultHighWaterMark(false, TLS_HIGH_WATER_BYTES);
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
    sentBytes,
    cutForDepots: (path, afterBytes) => cuts.set(path, afterBytes),
    setAway: (path, isAway, instead = cutOff) => void (isAway ? away.set(path, instead) : away.delete(path)),
    cutsWaiting: () => cuts.size,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

const cutOff: OriginHandler = ({ socket }) => void socket.resetAndDestroy();

/** How an answer breaks off before its end, and who is told how much of it has gone. */
interface Course {
  /** After so many body bytes. */
  readonly cutBytes: number | undefined;
  /** As soon as this is so. */
  readonly isAway: () => boolean;
  readonly breakOff: (socket: Socket) => void;
  readonly onSent: (bytes: number) => void;
}

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: OriginFile,
  rateBps: number,
  course: Course,
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
  const promptBytes = Math.max(0, (file.promptBytes ?? 0) - start);
  const part = range && !isStale ? { 'Content-Range': `bytes ${start}-${end}/${body.length}` } : {};
  response.writeHead(range && !isStale ? 206 : 200, {
    ...headers,
    ...part,
    'Content-Length': end - start + 1,
  });
  if (request.method === 'HEAD') response.end();
  else void sendPaced(response, body.subarray(start, end + 1), { rateBps, promptBytes }, course);
}

/** Small, so that a slow rate is even. */
const PACED_CHUNK_BYTES = 32 * 1024;
/** Without a rate only backpressure counts: few writes, but never the whole file encrypted in one go. */
const UNPACED_CHUNK_BYTES = 1024 * 1024;

/**
 * Sends at `rateBps`, as a far link would, or without timers when that is Infinity; resets the connection
 * where it breaks off.
 */
async function sendPaced(
  response: ServerResponse,
  bytes: Buffer,
  { rateBps, promptBytes }: { readonly rateBps: number; readonly promptBytes: number },
  { cutBytes, isAway, breakOff, onSent }: Course,
): Promise<void> {
  const started = performance.now();
  const end = cutBytes ?? bytes.length;
  const chunkBytes = Number.isFinite(rateBps) ? PACED_CHUNK_BYTES : UNPACED_CHUNK_BYTES;
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  for (let sent = 0; sent < end && !response.destroyed && !isAway(); ) {
    const chunk = bytes.subarray(sent, Math.min(sent + chunkBytes, end));
    sent += chunk.length;
    onSent(chunk.length);
    if (!response.write(chunk)) await once(response, 'drain', { signal: closed.signal }).catch(() => {});
    const aheadMs =
      transferSeconds(Math.max(0, sent - promptBytes), rateBps) * 1000 - (performance.now() - started);
    if (aheadMs > 1) await delay(aheadMs);
  }
  if (cutBytes === undefined && !isAway()) response.end();
  else if (response.socket) breakOff(response.socket);
}
