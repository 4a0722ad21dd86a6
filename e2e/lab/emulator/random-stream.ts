/**
 * Numbers from 0 to below 1 with 32 random bits: the generator sfc32 (Doty-Humphrey, PractRand). A stream is fixed by a
 * text, so that each direction of each link has one of its own whatever other links there are.
 */
export class RandomStream {
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 1;

  constructor(text: string) {
    // FNV-1a with three different offsets; the generator's own rounds do the rest of the mixing.
    this.#a = fnv1a(text, 0x811c9dc5);
    this.#b = fnv1a(text, 0x9e3779b9);
    this.#c = fnv1a(text, 0x243f6a88);
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) this.next();
  }

  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }
}

/** After so many rounds similar texts have nothing in common any more; 12 is what the author's own seeding uses. */
const WARM_UP_ROUNDS = 12;

function fnv1a(text: string, offset: number): number {
  let hash = offset | 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}
