import { type CipherGCM, createCipheriv, randomBytes } from 'node:crypto';

/** Bytes under one tag: another file is noticed after so many, instead of after everything that the client has. */
const SEGMENT_BYTES = 16_777_216;
const KEY_BYTES = 32;
/** No tag ever leaves this process, and equal bytes at one place must have equal tags. */
const NONCE = Buffer.alloc(12);

/** Bytes that a whole body which is fetched again has to bring before new ones: the client has them. */
export interface KnownPrefix {
  /** How many of them have not come again yet. */
  readonly restBytes: number;
  /** Takes the next bytes of the body and gives those behind the prefix; `undefined` where the prefix is another one. */
  readonly take: (chunk: Buffer) => Buffer | undefined;
}

interface Segment {
  readonly bytes: number;
  readonly tag: Buffer;
}

/**
 * A digest of what a client has been given so far, to compare the beginning of another body with. It is AES-GMAC under a key
 * that is drawn for it and stays here: whoever does not know the key finds two texts of one tag with a chance of 2^-100 at
 * most (NIST SP 800-38D, appendix C, for segments of this size), and it costs a twentieth of SHA-256.
 */
export class RunningDigest {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #segments: Segment[] = [];
  #open = new SegmentTag(this.#key, SEGMENT_BYTES);

  /** Takes in the next bytes that the client gets. */
  update(chunk: Buffer): void {
    for (let rest: Buffer = chunk; rest.length > 0; ) {
      rest = this.#open.add(rest);
      if (this.#open.isFull) this.#close();
    }
  }

  /** What another body must begin with to be the one that the client has the first bytes of. */
  prefix(): KnownPrefix {
    if (this.#open.bytes > 0) this.#close();
    return new ComparedPrefix(this.#key, this.#segments.slice());
  }

  #close(): void {
    const { bytes } = this.#open;
    this.#segments.push({ bytes, tag: this.#open.finish() });
    this.#open = new SegmentTag(this.#key, SEGMENT_BYTES);
  }
}

class ComparedPrefix implements KnownPrefix {
  readonly #key: Buffer;
  /** Those that have not come again yet, the next one last. */
  readonly #segments: Segment[];
  #open: SegmentTag | undefined;
  #restBytes: number;

  constructor(key: Buffer, segments: readonly Segment[]) {
    this.#key = key;
    this.#segments = segments.toReversed();
    this.#restBytes = segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get restBytes(): number {
    return this.#restBytes;
  }

  take(chunk: Buffer): Buffer | undefined {
    let rest = chunk;
    for (let next = this.#segments.at(-1); next && rest.length > 0; next = this.#segments.at(-1)) {
      this.#open ??= new SegmentTag(this.#key, next.bytes);
      const before = rest.length;
      rest = this.#open.add(rest);
      this.#restBytes -= before - rest.length;
      if (!this.#open.isFull) break;
      if (!this.#open.finish().equals(next.tag)) return undefined;
      this.#open = undefined;
      this.#segments.pop();
    }
    return rest;
  }
}

/** The tag of up to so many bytes. */
class SegmentTag {
  readonly #sizeBytes: number;
  // The bytes are authenticated and not encrypted: of GCM, only the digest is calculated.
  readonly #mac: CipherGCM;
  bytes = 0;

  constructor(key: Buffer, sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
    this.#mac = createCipheriv('aes-256-gcm', key, NONCE);
  }

  get isFull(): boolean {
    return this.bytes === this.#sizeBytes;
  }

  /** Takes in what belongs to it; gives the rest. */
  add(chunk: Buffer): Buffer {
    const own = chunk.subarray(0, this.#sizeBytes - this.bytes);
    if (own.length > 0) this.#mac.setAAD(own);
    this.bytes += own.length;
    return chunk.subarray(own.length);
  }

  finish(): Buffer {
    this.#mac.final();
    return this.#mac.getAuthTag();
  }
}
