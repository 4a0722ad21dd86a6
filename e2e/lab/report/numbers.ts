import { type Estimate, max, median, min } from '../results/statistics.ts';

/** Mbit/s with two or three digits: `287`, `74`, `7.2`, `0.85`. */
export function mbps(goodputBps: number): string {
  return digits(goodputBps / 1e6);
}

/** Median and range, `74 [70–78]`, in Mbit/s. */
export function mbpsRange(goodputsBps: readonly number[]): string {
  return `${mbps(median(goodputsBps))} [${mbps(min(goodputsBps))}–${mbps(max(goodputsBps))}]`;
}

/** `74.1 ± 4.2`, in Mbit/s, for intervals with equal arms. */
export function mbpsPlusMinus({ value, high }: Estimate): string {
  const decimals = value >= 99.95e6 ? 0 : value >= 9.995e6 ? 1 : 2;
  return `${(value / 1e6).toFixed(decimals)} ± ${((high - value) / 1e6).toFixed(decimals)}`;
}

/** Milliseconds: `203`, `7.2`. */
export function milliseconds(ms: number): string {
  return digits(ms);
}

/** A ratio; near one, where hundredths decide, with two decimals: `35`, `5.7`, `1.05`. */
export function ratio(value: number, decimals = ratioDecimals(value)): string {
  return Number.isFinite(value) ? value.toFixed(decimals) : '∞';
}

/** `5.7 [4.9–6.6]`. */
export function ratioInterval(estimate: Estimate): string {
  return `${ratio(estimate.value)} ${ratioRange(estimate)}`;
}

/** `[4.9–6.6]`, with as many decimals as the ratio itself. */
export function ratioRange({ value, low, high }: Estimate): string {
  const decimals = ratioDecimals(value);
  return `[${ratio(low, decimals)}–${ratio(high, decimals)}]`;
}

function ratioDecimals(value: number): number {
  if (value >= 9.95) return 0;
  return value >= 1.995 ? 1 : 2;
}

/** `1 transfer`, `2 transfers`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 9.95) return value.toFixed(0);
  if (size >= 0.995) return value.toFixed(1);
  return size === 0 ? '0' : value.toFixed(2);
}
