/** `value` with at most so many digits behind the point: lines of results carry no more than was measured. */
export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
