import type { FlowOrder } from './traffic-order.ts';

/**
 * What a flow asks, in order; each request but the first goes out when the answer's head to the one before
 * has come.
 */
export function requestsOf({ way, authority, bodyBytes, firstBytes }: FlowOrder): string[] {
  const path = `/${bodyBytes}${firstBytes === undefined ? '' : `?first=${firstBytes}`}`;
  const target = way.kind === 'proxy' ? `http://${authority}${path}` : path;
  const get = `GET ${target} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
  if (way.kind !== 'connect') return [get];
  const connect = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: ${way.authorization}\r\n\r\n`;
  return [connect, get];
}

const END_OF_HEAD = '\r\n\r\n';
/** No relay adds so much. */
const MOST_HEAD_BYTES = 16 * 1024;

/** Reads the heads of answers, however they are cut, and lets the bytes after them through. */
export class HeadReader {
  #text = '';

  /** What follows the head, or undefined while its end has not come. Throws when the answer is not 200. */
  take(bytes: Buffer): Buffer | undefined {
    const before = this.#text.length;
    this.#text += bytes.toString('latin1', 0, Math.min(bytes.length, MOST_HEAD_BYTES));
    const end = this.#text.indexOf(END_OF_HEAD);
    if (end < 0) {
      if (this.#text.length > MOST_HEAD_BYTES) throw new Error('the head of an answer does not end');
      return undefined;
    }
    const head = this.#text.slice(0, end);
    this.#text = '';
    if (!/^HTTP\/1\.[01] 200 /.test(head))
      throw new Error(`the answer was: ${head.replaceAll(/\r?\n/g, ' | ')}`);
    return bytes.subarray(end + END_OF_HEAD.length - before);
  }
}
