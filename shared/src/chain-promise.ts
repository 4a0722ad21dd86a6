/** What the planner expects of one chain. */
export interface ChainPromise {
  /** Goodput of the whole chain with the ticket's lanes, in bits per second (kept in whole kbit/s, up to 1 Tbit/s). */
  readonly rateBps: number;
  /**
   * Of the leg that limits the chain's lanes: the one behind the entry depot whose single connection carries least.
   * Round-trip time in whole milliseconds, up to 4 s.
   */
  readonly worstRttMs: number;
  /**
   * Loss probability of a packet on the same leg, kept in whole 1e-5. 0 where losses say nothing of its rate,
   * since its sender has BBR; where what a connection carries was measured, the loss that would leave a usual
   * sender as much.
   */
  readonly worstLossRate: number;
}

/** Digits of the three figures of a promise. */
const PROMISE_DIGITS = [5, 2, 3] as const;
/** Length of a promise in a ticket. */
export const PROMISE_CHARS = 10;
/** Losses in a promise count in steps of 1e-5. */
const LOSS_STEPS = 100_000;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A promise in `PROMISE_CHARS` characters; what does not fit becomes the largest that does. */
export function encodePromise(promise: ChainPromise): string {
  const { rateBps, worstRttMs, worstLossRate } = promise;
  const figures = [rateBps / 1000, worstRttMs, Math.min(worstLossRate, 1) * LOSS_STEPS];
  return PROMISE_DIGITS.map((width, index) => encodeDigits(figures[index] ?? 0, width)).join('');
}

/** `undefined` where the text is no promise. */
export function decodePromise(text: string): ChainPromise | undefined {
  const figures: number[] = [];
  let start = 0;
  for (const width of PROMISE_DIGITS) {
    figures.push(decodeDigits(text.slice(start, start + width)));
    start += width;
  }
  const [rateKbps = 0, worstRttMs = 0, loss = 0] = figures;
  const fits = text.length === PROMISE_CHARS && figures.every((figure) => figure >= 0);
  const worstLossRate = loss / LOSS_STEPS;
  return fits && worstLossRate <= 1 ? { rateBps: rateKbps * 1000, worstRttMs, worstLossRate } : undefined;
}

/** The whole number next to `value` in digits of base64url, or the largest that they hold. */
function encodeDigits(value: number, width: number): string {
  const most = DIGITS.length ** width - 1;
  // What is no number promises nothing.
  let rest = value > 0 ? Math.min(Math.round(value), most) : 0;
  let digits = '';
  while (digits.length < width) {
    digits = (DIGITS[rest % DIGITS.length] ?? '') + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return digits;
}

/** -1 or less where a character is no digit. */
function decodeDigits(digits: string): number {
  let value = 0;
  for (const digit of digits) {
    const figure = DIGITS.indexOf(digit);
    if (figure < 0) return -1;
    value = value * DIGITS.length + figure;
  }
  return value;
}
