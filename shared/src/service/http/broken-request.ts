import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, LonghaulError } from '../../errors.ts';
import { HEADERS } from '../../wire/protocol.ts';
import { STATUS_CODES } from './node-http.ts';

/**
 * Time for a refused client to read its answer; then its connection is broken off, whether it closed its half
 * or not.
 */
const FAREWELL_TIMEOUT_MS = 1000;

/**
 * Answers on the socket what Node's parser refuses, for it never becomes a request: with the registered code instead of
 * Node's words, and with `headers`. Gives the code; `undefined` when nothing is answered, because all is said or lost.
 */
export function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  headers: Readonly<Record<string, string>> = {},
): ErrorCode | undefined {
  // More of a refused request: breaking off now could destroy the answer on its way.
  if (socket.writableEnded && !socket.destroyed) return undefined;
  if (!socket.writable || error.code === 'ECONNRESET' || isUnused(error, socket)) {
    socket.destroy();
    return undefined;
  }
  const refusal = new LonghaulError(
    error.code === 'HPE_HEADER_OVERFLOW' ? 'request-too-large' : 'bad-request',
  );
  refuseOnSocket(socket, refusal, headers);
  return refusal.code;
}

/**
 * Whether the time for a head is over and nothing of one has come, as of what browsers open ahead: a request that is
 * on its way would be told that it is wrong, where a browser asks again after a connection that ends.
 */
function isUnused(error: NodeJS.ErrnoException, socket: Duplex): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0;
}

/** Answers a refusal on a connection that HTTP has given up, and closes it. */
export function refuseOnSocket(
  socket: Duplex,
  { code, message, status }: LonghaulError,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = `${code}: ${message}\n`;
  const sent = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    [HEADERS.error]: code,
    ...headers,
    Connection: 'close',
  };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  sayFarewell(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

/** Sends the last words on a connection and closes it, also when the peer keeps its own side open. */
export function sayFarewell(socket: Duplex, text: string): void {
  const timer = setTimeout(() => socket.destroy(), FAREWELL_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  socket.on('error', () => socket.destroy());
  // What is still coming in is read and dropped: closing over unread bytes would reset the answer away.
  socket.resume();
  socket.end(text);
}
