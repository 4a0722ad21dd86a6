import { randomBytes } from 'node:crypto';
import { MOST_SEGMENTS, type Segment, SegmentTag, SegmentTags } from './segment-tags.ts';

const KEY_BYTES = 32;

/** Bytes that a whole body which is fetched again has to bring before new ones: the client has them. */
export interface KnownPrefix {
  /** How many of them have not come again yet. */
  readonly restBytes: number;
  /**
   * Takes the next bytes of the body and gives those behind the prefix; `undefined` where the prefix is
   * another one.
   */
  readonly take: (chunk: Buffer) => Buffer | undefined;
}

/**
 * A digest of what a client has been given so far, to compare the beginning of another body with. It is
 * AES-GMAC under a key that is drawn for it and stays here: whoever does not know the key finds two texts of
 * one tag with a chance of 2^-100 at most (NIST SP 800-38D, appendix C, for segments of 16 MiB), and it costs
 * a twentieth of SHA-256.
 */
export class RunningDigest {
  /** For whoever takes bytes in elsewhere, and hands their tags in. */
  readonly key: Uint8Array = randomBytes(KEY_BYTES);
  readonly #segments: Segment[] = [];
  readonly #tags = new SegmentTags(this.key);

  /** Bytes taken in; less than the client has, where that is more than anybody fetches again. */
  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, this.#tags.bytes);
  }

  /** Takes in the next bytes that the client gets. */
  update(chunk: Uint8Array): void {
    this.#tags.add(chunk);
  }

  /** Takes in the tags of the next bytes that the client got. */
  updateTagged(segments: readonly Segment[]): void {
    const all = [...this.#tags.take(), ...segments];
    this.#segments.push(...all.slice(0, MOST_SEGMENTS - this.#segments.length));
  }

  /** What another body must begin with to be the one that the client has the first bytes of. */
  prefix(): KnownPrefix {
    this.updateTagged([]);
    return new ComparedPrefix(this.key, this.#segments);
  }
}

/** Bytes that come again of a file that is known to be the same: they are left out, and not compared. */
export class SkippedPrefix implements KnownPrefix {
  #restBytes: number;

  constructor(bytes: number) {
    this.#restBytes = bytes;
  }

  get restBytes(): number {
    return this.#restBytes;
  }

  take(chunk: Buffer): Buffer {
    const fresh = chunk.subarray(this.#restBytes);
    this.#restBytes -= chunk.length - fresh.length;
    return fresh;
  }
}

class ComparedPrefix implements KnownPrefix {
  readonly #key: Uint8Array;
  /** Those that have not come again yet, the next one last. */
  readonly #segments: Segment[];
  #open: SegmentTag | undefined;
  #restBytes: number;

  constructor(key: Uint8Array, segments: readonly Segment[]) {
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
      const known = this.#open.add(rest);
      rest = rest.subarray(known);
      this.#restBytes -= known;
      if (!this.#open.isFull) break;
      if (!this.#open.finish().equals(next.tag)) return undefined;
      this.#open = undefined;
      this.#segments.pop();
    }
    return rest;
  }
}
