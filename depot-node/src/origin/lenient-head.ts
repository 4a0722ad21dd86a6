import { MOST_HEAD_BYTES } from '../relay/answer-reader.ts';
import { LenientChunks } from './lenient-chunks.ts';

/** More are refused behind this. */
const MOST_HEADS = 32;
const END = /\r?\n\r?\n/;
/** Characters of it before its last one, at most. */
const LONGEST_END = 3;
const NOTHING = Buffer.alloc(0);
/** Pieces of a head that are kept as they came: each costs more than a byte. */
const MOST_PIECES = 64;
const INTERIM = /^HTTP\/1\.1 1[0-9]{2}/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[\t ]*:(.*)$/s;
const CHUNKED = /\r\ntransfer-encoding:[\t ]*chunked[\t ]*\r\n/i;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/**
 * Makes heads that browsers and `curl` take such that Node's parser takes them, too: lines without a return
 * or that go on in the next one, lines that are no fields, one length stated twice or beside chunks, chunks
 * stated twice, a coding that is none; and the chunks behind it. What nobody could tell the end of, such as
 * two lengths of one body, stays as it is, for HTTP to refuse.
 */
export class LenientHead {
  /** Of a head that is not whole, as it came. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** Its last characters, in which its end may have begun. */
  #tail = '';
  #isDone = false;
  #heads = 0;
  /** Looks after the chunks behind a head that has said that there are some. */
  #chunks: LenientChunks | undefined;

  /** Takes what has come; gives what HTTP may have of it, which is nothing while a head is not whole. */
  take(chunk: Buffer): Buffer {
    if (this.#chunks) return this.#chunks.take(chunk);
    if (this.#isDone) return chunk;
    if (this.#goesOn(chunk)) return NOTHING;
    const bytes = this.#takeBegun(chunk);
    const heads: Buffer[] = [];
    let isOdd = false;
    let from = 0;
    while (!this.#isDone) {
      const text = bytes.toString('latin1', from, from + MOST_HEAD_BYTES);
      const end = END.exec(text);
      // What is no head is HTTP's to refuse, at once.
      if (!'HTTP/'.startsWith(text.slice(0, 5)) || (!end && text.length === MOST_HEAD_BYTES)) {
        this.#isDone = true;
      } else if (end) {
        const head = text.slice(0, end.index);
        const right = `${asHttpTakesIt(head)}\r\n\r\n`;
        heads.push(Buffer.from(right, 'latin1'));
        isOdd ||= right !== head + end[0];
        from += end.index + end[0].length;
        // Others follow one of an interim answer.
        this.#heads += 1;
        this.#isDone = !INTERIM.test(head) || this.#heads > MOST_HEADS;
        if (this.#isDone && CHUNKED.test(right)) this.#chunks = new LenientChunks();
      } else {
        if (text !== '') this.#keep(bytes.subarray(from), text);
        return isOdd ? Buffer.concat(heads) : bytes.subarray(0, from);
      }
    }
    if (this.#chunks) return Buffer.concat([...heads, this.#chunks.take(bytes.subarray(from))]);
    return isOdd ? Buffer.concat([...heads, bytes.subarray(from)]) : bytes;
  }

  /** Gives what waits for an end that does not come. */
  flush(): Buffer | undefined {
    const begun = this.#takeBegun();
    this.#isDone = true;
    if (this.#chunks) return this.#chunks.flush();
    return begun.length > 0 ? begun : undefined;
  }

  /** Whether a head that has begun goes on without an end: it is not looked at again for each byte of it. */
  #goesOn(chunk: Buffer): boolean {
    const sizeBytes = this.#begunBytes + chunk.length;
    if (this.#begunBytes < 'HTTP/'.length || sizeBytes >= MOST_HEAD_BYTES) return false;
    const text = this.#tail + chunk.toString('latin1');
    if (END.test(text)) return false;
    this.#keep(chunk, text);
    return true;
  }

  #keep(chunk: Buffer, text: string): void {
    this.#begun.push(chunk);
    if (this.#begun.length >= MOST_PIECES) this.#begun = [Buffer.concat(this.#begun)];
    this.#begunBytes += chunk.length;
    this.#tail = text.slice(-LONGEST_END);
  }

  #takeBegun(...more: readonly Buffer[]): Buffer {
    const bytes = this.#begun.length + more.length === 1 ? (this.#begun[0] ?? more[0]) : undefined;
    const all = bytes ?? Buffer.concat([...this.#begun, ...more]);
    this.#begun = [];
    this.#begunBytes = 0;
    this.#tail = '';
    return all;
  }
}

interface Field {
  readonly name: string;
  /** With the blanks in front of it. */
  value: string;
}

function asHttpTakesIt(head: string): string {
  const [statusLine = '', ...lines] = head.split(/\r?\n/);
  const fields = framedOnce(readFields(lines));
  return [statusLine, ...fields.map(({ name, value }) => `${name}:${value}`)].join('\r\n');
}

/** Lines that are no fields are left out, with those that go on from them. */
function readFields(lines: readonly string[]): Field[] {
  const fields: Field[] = [];
  let last: Field | undefined;
  for (const line of lines) {
    const text = line.replace(CONTROLS, ' ');
    if (/^[\t ]/.test(text)) {
      if (last) last.value += ` ${text.trim()}`;
    } else {
      const [, name, value = ''] = FIELD.exec(text) ?? [];
      last = name === undefined ? undefined : { name, value };
      if (last) fields.push(last);
    }
  }
  return fields;
}

/**
 * Leaves one of what says where the body ends. Chunks count before a length (RFC 9112 section 6.3), and
 * nobody chunks twice whatever is said; the connection ends behind such an answer. So it does, and the body
 * with it, where no length is a number, such as one of more than 2 GiB that a program has made negative.
 */
function framedOnce(fields: readonly Field[]): Field[] {
  const kept = fields.flatMap((field) => (isCoding(field) ? withoutNoCodings(field) : [field]));
  const stated = kept.filter(isLength).flatMap(valuesOf);
  const codings = kept.filter(isCoding).flatMap(valuesOf);
  const isChunked = codings.length > 0 && codings.every((coding) => coding.toLowerCase() === 'chunked');
  const first = { length: kept.find(isLength), coding: kept.find(isCoding) };
  const once = (field: Field): Field[] => {
    if (isLength(field))
      return field === first.length ? [isChunked ? CLOSE : { ...field, value: ` ${stated[0]}` }] : [];
    if (!isChunked || !isCoding(field)) return [field];
    return field === first.coding ? [{ ...field, value: ` ${codings[0]}` }] : [];
  };
  if (isChunked && stated.length + codings.length > 1)
    return [...kept.flatMap(once), ...(first.length ? [] : [CLOSE])];
  if (stated.length > 0 && !stated.some((length) => NUMBER.test(length)))
    return kept.filter((field) => !isLength(field));
  return stated.length > 1 && new Set(stated).size === 1 ? kept.flatMap(once) : kept;
}

/** A field of codings without those that are none; nothing where it lists no other. */
function withoutNoCodings(field: Field): Field[] {
  const codings = valuesOf(field);
  const real = codings.filter((coding) => !NO_CODINGS.has(coding.toLowerCase()));
  if (real.length === codings.length) return [field];
  return real.length > 0 ? [{ ...field, value: ` ${real.join(', ')}` }] : [];
}

/** What programs write to switch chunks off, beside `identity`, which was a coding once (RFC 2616 section 3.6). */
const NO_CODINGS = new Set(['', 'none', 'identity']);

const NUMBER = /^[0-9]+$/;
const CLOSE: Field = { name: 'Connection', value: ' close' };
const isCoding = ({ name }: Field) => name.toLowerCase() === 'transfer-encoding';
const isLength = ({ name }: Field) => name.toLowerCase() === 'content-length';
const valuesOf = ({ value }: Field) => value.split(',').map((one) => one.trim());
