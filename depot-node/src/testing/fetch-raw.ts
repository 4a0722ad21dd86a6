import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly body: Buffer;
  /** The error code with which the body broke off; `undefined` for a whole one. */
  readonly broken: string | undefined;
}

/** Asks for an absolute URL whose target is sent byte by byte as it stands; never rejects for a broken body. */
export function fetchRaw(
  url: string,
  init: { method?: string; headers?: Record<string, string>; localAddress?: string } = {},
): Promise<RawAnswer> {
  const match = /^http:\/\/([^/]*):([0-9]+)(\/.*)$/s.exec(url);
  const [, host = '', port = '', path = ''] = match ?? [];
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: host.replace(/^\[|\]$/g, ''), port, path, agent: false, ...init });
    outgoing.once('error', reject);
    outgoing.once('response', (answer) => {
      outgoing.off('error', reject);
      outgoing.on('error', () => {});
      const chunks: Buffer[] = [];
      let broken: string | undefined;
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', (error: NodeJS.ErrnoException) => {
        broken = error.code ?? error.message;
      });
      answer.once('close', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          rawHeaders: answer.rawHeaders,
          body: Buffer.concat(chunks),
          broken: broken ?? (answer.complete ? undefined : 'incomplete'),
        }),
      );
    });
    outgoing.end();
  });
}

/**
 * Sends text over a fresh connection and gives everything that comes back until the peer is done; `onText` is told of
 * what there is so far.
 */
export function exchangeText(url: string, text: string, onText?: (soFar: string) => void): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket: Socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text));
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      answer += chunk;
      onText?.(answer);
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(answer));
  });
}
