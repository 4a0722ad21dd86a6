/** More than a size and its extensions need. */
const MOST_LINE_BYTES = 4096;
/** Lines of one piece that are rewritten: some milliseconds' work. Chunks so tiny, and odd, are left to HTTP, which refuses them. */
const MOST_LINES = 1000;
const LF = 0x0a;
const SIZE = /^[\t ]*([0-9a-f]{1,13})[\t ]*(?:;.*)?\r?$/is;
const STRICT_SIZE = /^[0-9a-f]{1,13}(?:;.*)?\r$/is;

/**
 * Makes chunks that browsers and `curl` take such that Node's parser takes them, too: sizes with blanks around them, lines without a
 * return. Whether an origin frames its chunks so is seen by the first size; others are left as they come. What is no chunk stays as
 * it is, for HTTP to refuse.
 */
export class LenientChunks {
  #state: 'first' | 'size' | 'data' | 'data-end' | 'trailers' | 'done' = 'first';
  #restBytes = 0;
  /** The beginning of a line whose end has not come. */
  #begun: Buffer | undefined;

  /** Takes what has come; gives what HTTP may have of it, which is nothing while a line is not whole. */
  take(chunk: Buffer): Buffer {
    const bytes = this.#begun ? Buffer.concat([this.#begun, chunk]) : chunk;
    this.#begun = undefined;
    const given: Buffer[] = [];
    let from = 0;
    let lines = 0;
    while (from < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const end = Math.min(from + this.#restBytes, bytes.length);
        given.push(bytes.subarray(from, end));
        this.#restBytes -= end - from;
        from = end;
        if (this.#restBytes === 0) this.#state = 'data-end';
        continue;
      }
      const end = bytes.indexOf(LF, from);
      if (end === -1 && bytes.length - from < MOST_LINE_BYTES) {
        this.#begun = bytes.subarray(from);
        return Buffer.concat(given);
      }
      lines += 1;
      const isLine = end !== -1 && lines <= MOST_LINES;
      const right = isLine ? this.#lineAsHttpTakesIt(bytes.toString('latin1', from, end)) : undefined;
      if (right === undefined) this.#state = 'done';
      else {
        given.push(Buffer.from(right, 'latin1'));
        from = end + 1;
      }
    }
    if (from < bytes.length) given.push(bytes.subarray(from));
    return given.length === 1 ? (given[0] as Buffer) : Buffer.concat(given);
  }

  /** Gives what waits for an end that does not come. */
  flush(): Buffer | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    this.#state = 'done';
    return begun;
  }

  /** A line without its last byte; `undefined` where it is none that has its place here, or where all are as they should be. */
  #lineAsHttpTakesIt(line: string): string | undefined {
    const text = line.replace(/\r$/, '');
    if (this.#state === 'trailers') {
      if (text === '') this.#state = 'done';
      return `${text}\r\n`;
    }
    if (this.#state === 'data-end') {
      this.#state = 'size';
      return text === '' ? '\r\n' : undefined;
    }
    if (this.#state === 'first' && STRICT_SIZE.test(line)) return undefined;
    const size = SIZE.exec(line)?.[1];
    if (size === undefined) return undefined;
    this.#restBytes = Number.parseInt(size, 16);
    this.#state = this.#restBytes === 0 ? 'trailers' : 'data';
    return `${size}\r\n`;
  }
}
