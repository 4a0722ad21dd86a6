import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends `GET <target>` exactly as it is given, which no HTTP client would do, and reads until the server closes. */
export function rawGet(
  port: number,
  target: string,
  headers: readonly string[] = [],
  localAddress?: string,
): Promise<RawAnswer> {
  return rawRequest(port, `GET ${target} HTTP/1.1`, headers, localAddress);
}

export async function rawRequest(
  port: number,
  requestLine: string,
  headers: readonly string[] = [],
  localAddress?: string,
): Promise<RawAnswer> {
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress ? { localAddress } : {}) });
  const host = headers.some((line) => line.startsWith('Host:')) ? [] : ['Host: master'];
  socket.write([requestLine, ...host, 'Connection: close', ...headers, '', ''].join('\r\n'), 'latin1');
  return parseAnswer(await text(socket));
}

function parseAnswer(answer: string): RawAnswer {
  const end = answer.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: answer.slice(end + 4),
  };
}
