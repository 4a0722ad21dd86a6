import type { IncomingMessage } from 'node:http';
import { CONDITIONS } from '../entry/headers.ts';

/** A request as far as its answer depends on it. */
export interface Wanted {
  readonly method: 'GET' | 'HEAD';
  readonly path: string;
  readonly conditions: Readonly<Record<string, string>>;
}

/** What a request wants: an answer to another one must never be given in its place. */
export function wantedBy({ method, headers }: IncomingMessage, path: string): Wanted {
  const conditions: Record<string, string> = {};
  for (const name of CONDITIONS) {
    const value = headers[name];
    if (typeof value === 'string') conditions[name] = value;
  }
  return { method: method === 'HEAD' ? 'HEAD' : 'GET', path, conditions };
}

/** Equal for requests that want the same. */
export function keyOfWanted({ method, path, conditions }: Wanted): string {
  return JSON.stringify([method, path, conditions]);
}
