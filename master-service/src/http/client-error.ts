import type { Socket } from 'node:net';
import { HEADERS, LonghaulError } from '@longhaul/shared';

/** Time for a refused client to read its answer; then its connection is broken off, whether it closed its half or not. */
const LINGER_MS = 1000;

/** Answers what Node's parser refuses on the socket, for it never becomes a request; a `clientError` listener. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // More of a refused request: breaking off now could destroy the answer on its way.
  if (socket.writableEnded && !socket.destroyed) return;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(refusalText(error));
  // A socket that was paused would never see the client's end.
  socket.resume();
  const limit = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(limit));
}

function refusalText({ code }: NodeJS.ErrnoException): string {
  const refusal = new LonghaulError(code === 'HPE_HEADER_OVERFLOW' ? 'request-too-large' : 'bad-request');
  const body = `${refusal.code}: ${refusal.message}\n`;
  return [
    `HTTP/1.1 ${refusal.status} ${refusal.status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `${HEADERS.error}: ${refusal.code}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
