/**
 * Draws that depend on names alone: the same for the same numbers, without a stream that has to be kept. So a
 * world of a hundred thousand networks needs no table of their ways to each other.
 */
export class Hashed {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = mix(seed ^ 0x9e37_79b9);
  }

  /** From 0 to below 1. */
  uniform(...names: readonly number[]): number {
    let state = this.#seed;
    for (const name of names) state = mix(state ^ Math.imul(name + 1, 0x85eb_ca6b));
    return mix(state) / 2 ** 32;
  }

  /** Of a normal distribution with mean 0 and deviation 1 (Box and Muller, 1958). */
  normal(...names: readonly number[]): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform(...names, 1)));
    return radius * Math.cos(2 * Math.PI * this.uniform(...names, 2));
  }

  /** With this median; its logarithm is normal with this deviation. */
  logNormal(median: number, deviation: number, ...names: readonly number[]): number {
    return median * Math.exp(deviation * this.normal(...names));
  }
}

/** The finaliser of MurmurHash3. */
function mix(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
