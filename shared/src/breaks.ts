/**
 * Expected time of a transfer that begins again at each break: (e^(f t) - 1) / f, for breaks at a rate f that
 * come independently of each other (A. Duda, "The effects of checkpointing on program execution time",
 * Information Processing Letters 16, 1983, without checkpoints). `seconds` is the time without a break.
 */
export function secondsWithBreaks(seconds: number, breaksPerSecond: number): number {
  return breaksPerSecond > 0 ? Math.expm1(breaksPerSecond * seconds) / breaksPerSecond : seconds;
}
