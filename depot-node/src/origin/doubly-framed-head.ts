/** As much as HTTP takes of a head before it refuses it. */
const MOST_HEAD_BYTES = 16_384;
const END = '\r\n\r\n';

/**
 * Takes the length out of the head of an answer that is framed by chunks as well. Chunks count then (RFC 9112 section 6.3), and
 * clients take such answers; Node's parser refuses them. The connection ends behind one.
 */
export class DoublyFramedHead {
  #begun: Buffer | undefined;
  #isDone = false;

  /** Takes what has come; gives what HTTP may have of it, which is nothing while a head is not whole. */
  take(chunk: Buffer): Buffer {
    if (this.#isDone) return chunk;
    const bytes = this.#begun ? Buffer.concat([this.#begun, chunk]) : chunk;
    this.#begun = undefined;
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(END, from);
      if (end < 0) break;
      const head = bytes.toString('latin1', from, end);
      const isInterim = /^HTTP\/1\.1 1[0-9]{2}/.test(head);
      if (!isInterim) {
        this.#isDone = true;
        const right = withoutLength(head);
        if (right === undefined) return bytes;
        return Buffer.concat([bytes.subarray(0, from), Buffer.from(right, 'latin1'), bytes.subarray(end)]);
      }
      from = end + END.length;
    }
    const rest = bytes.length - from;
    if (rest > MOST_HEAD_BYTES || !mayBeHead(bytes.subarray(from))) {
      this.#isDone = true;
      return bytes;
    }
    this.#begun = rest > 0 ? Buffer.from(bytes.subarray(from)) : undefined;
    return bytes.subarray(0, from);
  }

  /** Gives what waits for an end that does not come. */
  flush(): Buffer | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    this.#isDone = true;
    return begun;
  }
}

/** What is none is HTTP's to refuse, at once. */
function mayBeHead(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 5);
  return 'HTTP/'.startsWith(start) && !bytes.includes('\n\n');
}

/** A head of which only the chunks tell the length; `undefined` where it may stay as it is. */
function withoutLength(head: string): string | undefined {
  const isChunked = /\r\ntransfer-encoding:[ \t]*chunked[ \t]*(?:\r\n|$)/i.test(head);
  if (!isChunked || !head.startsWith('HTTP/')) return undefined;
  const right = head.replace(/\r\ncontent-length:[^\r\n]*(?=\r\n|$)/gi, '\r\nConnection: close');
  return right === head ? undefined : right;
}
