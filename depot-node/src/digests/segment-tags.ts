import { type CipherGCM, createCipheriv } from 'node:crypto';

/** Bytes under one tag: another file is noticed after so many, instead of after everything that the client has. */
const SEGMENT_BYTES = 16_777_216;
/** Tags kept of one download: of 64 GiB, more than anybody fetches again. Behind that none are. */
export const MOST_SEGMENTS = 4096;
/** No tag ever leaves this process, and equal bytes at one place must have equal tags. */
const NONCE = Buffer.alloc(12);

/** Some bytes in order, and their tag. */
export interface Segment {
  readonly bytes: number;
  readonly tag: Uint8Array;
}

/** The tag of up to so many bytes: AES-GMAC. */
export class SegmentTag {
  readonly #sizeBytes: number;
  // The bytes are authenticated and not encrypted: of GCM, only the digest is calculated.
  readonly #mac: CipherGCM;
  bytes = 0;

  constructor(key: Uint8Array, sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
    this.#mac = createCipheriv('aes-256-gcm', key, NONCE);
  }

  get isFull(): boolean {
    return this.bytes === this.#sizeBytes;
  }

  /** Takes in what belongs to it; says how many bytes that was. */
  add(bytes: Uint8Array): number {
    const own = bytes.subarray(0, this.#sizeBytes - this.bytes);
    if (own.length > 0) this.#mac.setAAD(own);
    this.bytes += own.length;
    return own.length;
  }

  finish(): Buffer {
    this.#mac.final();
    return this.#mac.getAuthTag();
  }
}

/** Makes the tags of bytes that pass. */
export class SegmentTags {
  readonly #key: Uint8Array;
  #made: Segment[] = [];
  #open: SegmentTag | undefined;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length && this.#made.length < MOST_SEGMENTS; ) {
      this.#open ??= new SegmentTag(this.#key, SEGMENT_BYTES);
      from += this.#open.add(bytes.subarray(from));
      if (this.#open.isFull) this.#close();
    }
  }

  /** Bytes since the last time that have tags. */
  get bytes(): number {
    return this.#made.reduce((sum, { bytes }) => sum + bytes, this.#open?.bytes ?? 0);
  }

  /** Those of all bytes since the last time; a segment that is under way ends here. */
  take(): Segment[] {
    this.#close();
    const made = this.#made;
    this.#made = [];
    return made;
  }

  #close(): void {
    if (this.#open) this.#made.push({ bytes: this.#open.bytes, tag: this.#open.finish() });
    this.#open = undefined;
  }
}
