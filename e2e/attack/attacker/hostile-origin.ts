import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Ground } from './ground.ts';

/** A request as an origin of the attacker's sees it. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: Socket;
}

const HEAD_END = '\r\n\r\n';
const HTTP_PORT = 80;

/**
 * An origin of the attacker's: whatever `answer` does with a request is what a depot gets. It lives as long
 * as the process.
 */
export async function startHostileOrigin(
  { facts: { own } }: Ground,
  answer: (request: SeenRequest) => void,
  host = own.origin,
): Promise<void> {
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    let come = '';
    socket.on('error', () => socket.destroy());
    socket.setEncoding('latin1').on('data', (text: string) => {
      come += text;
      for (let end = come.indexOf(HEAD_END); end >= 0; end = come.indexOf(HEAD_END)) {
        const head = come.slice(0, end);
        come = come.slice(end + HEAD_END.length);
        answer(readRequest(head, socket));
      }
    });
  });
  server.listen({ host, port: HTTP_PORT, backlog: 4096 });
  await once(server, 'listening');
}

function readRequest(head: string, socket: Socket): SeenRequest {
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', target = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { method, target, headers, socket };
}

/** The first and last byte that a request asks for; the last is left out where the end is meant. */
export function rangeOf({
  headers,
}: SeenRequest): { readonly first: number; readonly last?: number } | undefined {
  const [, first, last] = /^bytes=([0-9]+)-([0-9]*)$/.exec(headers.range ?? '') ?? [];
  if (first === undefined) return undefined;
  return { first: Number(first), ...(last ? { last: Number(last) } : {}) };
}

/**
 * Writes as fast as the peer and the attacker's line take it, until the signal, the end of the connection, or
 * so many pieces.
 */
export async function pour(
  { signal, line }: Pick<Ground, 'signal' | 'line'>,
  socket: Socket,
  piece: Buffer | string,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  const over = AbortSignal.any([signal, closed.signal]);
  for (let poured = 0; poured < most && !over.aborted && socket.writable; poured += 1) {
    await line.take(piece.length);
    if (!socket.write(piece)) await once(socket, 'drain', { signal: over }).catch(() => undefined);
  }
}
