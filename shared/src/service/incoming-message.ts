import type { IncomingMessage } from 'node:http';
import { isInNetworks } from '../address-policy.ts';

/** Who comes through a reverse proxy has the proxy's address, often loopback: these headers tell that there is one. */
const PROXY_HEADERS = ['x-forwarded-for', 'forwarded'];

/** The value of a header by its lower-case name; the first one where it was sent more than once. */
export function headerOf(message: IncomingMessage, name: string): string | undefined {
  const value = message.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether a request comes straight from one of these networks (CIDR), and through no reverse proxy there. */
export function comesFrom(request: IncomingMessage, networks: readonly string[]): boolean {
  if (PROXY_HEADERS.some((name) => request.headers[name] !== undefined)) return false;
  return isInNetworks(request.socket.remoteAddress ?? '', networks);
}

/** The value of a JSON text; `undefined` where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
