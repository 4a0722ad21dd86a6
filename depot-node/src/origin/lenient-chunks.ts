/** More than a size and its extensions need. */
const MOST_LINE_BYTES = 4096;
/**
 * Lines of one piece that are rewritten: some milliseconds' work. Chunks so tiny, and odd, are left to HTTP,
 * which refuses them.
 */
const MOST_LINES = 1000;
/** Trailers of one body: as many as HTTP takes in a head. More are left to it, which refuses them. */
const MOST_TRAILER_BYTES = 65_536;
const LF = 0x0a;
const SIZE = /^[\t ]*([0-9a-f]{1,13})[\t ]*(?:;.*)?\r?\n$/is;

/**
 * Makes chunks that browsers and `curl` take such that Node's parser takes them, too: sizes with blanks
 * around them or with extensions, lines without a return, trailers of any form. Nobody uses extensions and
 * trailers: they are left out. All else passes as it came. What is no chunk stays as it is, with all that
 * follows, for HTTP to refuse.
 */
export class LenientChunks {
  #state: 'size' | 'data' | 'data-end' | 'trailers' | 'done' = 'size';
  #restBytes = 0;
  #trailerBytes = 0;
  /** The beginning of a line whose end has not come. */
  #begun: Buffer | undefined;

  /** Takes what has come; gives what HTTP may have of it, which is nothing while a line is not whole. */
  take(chunk: Buffer): Buffer {
    const bytes = this.#begun ? Buffer.concat([this.#begun, chunk]) : chunk;
    this.#begun = undefined;
    const given: Buffer[] = [];
    /** Where that begins which has not been given, and passes as it came. */
    let passing = 0;
    let from = 0;
    let lines = 0;
    while (from < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const sizeBytes = Math.min(this.#restBytes, bytes.length - from);
        from += sizeBytes;
        this.#restBytes -= sizeBytes;
        if (this.#restBytes === 0) this.#state = 'data-end';
        continue;
      }
      const next = bytes.indexOf(LF, from) + 1;
      if (next === 0 && bytes.length - from < MOST_LINE_BYTES) {
        this.#begun = bytes.subarray(from);
        break;
      }
      const isLine = next !== 0 && next - from <= MOST_LINE_BYTES && lines < MOST_LINES;
      const line = isLine ? bytes.toString('latin1', from, next) : '';
      const right = isLine ? this.#lineAsHttpTakesIt(line) : undefined;
      if (right === undefined) this.#state = 'done';
      else {
        if (right !== line) {
          given.push(bytes.subarray(passing, from), Buffer.from(right, 'latin1'));
          passing = next;
          lines += 1;
        }
        from = next;
      }
    }
    const end = this.#begun ? from : bytes.length;
    if (given.length === 0) return end === bytes.length ? bytes : bytes.subarray(0, end);
    return Buffer.concat([...given, bytes.subarray(passing, end)]);
  }

  /** Gives what waits for an end that does not come. */
  flush(): Buffer | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    this.#state = 'done';
    return begun;
  }

  /** What a line is to be, which is nothing for a trailer; `undefined` where it has no place here. */
  #lineAsHttpTakesIt(line: string): string | undefined {
    const isEmpty = line === '\r\n' || line === '\n';
    if (this.#state === 'trailers') {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > MOST_TRAILER_BYTES) return undefined;
      if (isEmpty) this.#state = 'done';
      return isEmpty ? '\r\n' : '';
    }
    if (this.#state === 'data-end') {
      this.#state = 'size';
      return isEmpty ? '\r\n' : undefined;
    }
    const size = SIZE.exec(line)?.[1];
    if (size === undefined) return undefined;
    this.#restBytes = Number.parseInt(size, 16);
    this.#state = this.#restBytes === 0 ? 'trailers' : 'data';
    return `${size}\r\n`;
  }
}
