/** Algorithms of `node:crypto` that digests of whole files have. */
export type DigestAlgorithm = 'sha256' | 'sha512' | 'md5';

/** A digest that is made where bytes are moved: a relay thread has its state, and takes in what its flows carry. */
export interface FlowDigest {
  readonly id: number;
  /** Takes in bytes that this thread has, behind all others. They are copied. */
  readonly add: (bytes: Uint8Array) => void;
  /** Ends it and gives it; `undefined` when its thread has died. */
  readonly finish: () => Promise<Uint8Array | undefined>;
  /** Forgets it. */
  readonly drop: () => void;
}
