/**
 * A bounded amount of something that many take of: requests that wait, bytes that are held, places. Each
 * taker gets at most as much as he leaves free (dynamic thresholds: Choudhury and Hahne, IEEE/ACM
 * Transactions on Networking 6(2), 1998, with alpha 1): one alone has up to a half, two a third each, and
 * there is always as much left for the next one.
 */
export class FairRoom {
  readonly capacity: number;
  readonly #taken = new Map<string, number>();
  #used = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** What all have taken. */
  get used(): number {
    return this.#used;
  }

  /** What one has taken. */
  usedBy(taker: string): number {
    return this.#taken.get(taker) ?? 0;
  }

  hasRoomFor(taker: string, amount: number): boolean {
    const left = this.capacity - this.#used - amount;
    const taken = this.usedBy(taker);
    return left >= 0 && (taken === 0 || taken + amount <= left);
  }

  /** Takes an amount, to be given back; `false`, and nothing taken, where there is no room for it. */
  take(taker: string, amount: number): boolean {
    if (!this.hasRoomFor(taker, amount)) return false;
    this.#count(taker, amount);
    return true;
  }

  giveBack(taker: string, amount: number): void {
    this.#count(taker, -amount);
  }

  #count(taker: string, change: number): void {
    const taken = this.usedBy(taker) + change;
    if (taken === 0) this.#taken.delete(taker);
    else this.#taken.set(taker, taken);
    this.#used += change;
  }
}
