import type { IncomingMessage } from 'node:http';

/** The value of a request header by its lower-case name; the first one where it was sent more than once. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
