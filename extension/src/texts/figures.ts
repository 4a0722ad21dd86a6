import { say } from './say.ts';

const SECONDS_PER_MINUTE = 60;
const MINUTES_PER_HOUR = 60;
const SECONDS_PER_HOUR = SECONDS_PER_MINUTE * MINUTES_PER_HOUR;

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const RATE_UNITS = ['byte-per-second', 'kilobyte-per-second', 'megabyte-per-second', 'gigabyte-per-second'];

/** A size for people, in decimal units with at most one decimal: `31.5 MB`. */
export function sayBytes(sizeBytes: number): string {
  return inSteps(sizeBytes, BYTE_UNITS);
}

/** A rate for people, as browsers show it beside a download: `11.9 MB/s`. */
export function sayRate(bytesPerSecond: number): string {
  return inSteps(bytesPerSecond, RATE_UNITS);
}

/** A round-trip time for people: `4.2 ms`, `180 ms`. */
export function sayRtt(rttMs: number): string {
  return inUnit(rttMs, 'millisecond', rttMs < 10 ? 1 : 0);
}

/** A part of one. Never 100 % before it is all. */
export function sayPercent(part: number): string {
  const percent = Math.floor(part * 100) / 100;
  return new Intl.NumberFormat(say('languageTag'), { style: 'percent' }).format(percent);
}

export function sayCount(count: number): string {
  return new Intl.NumberFormat(say('languageTag')).format(count);
}

export function sayDate(timeMs: number): string {
  return new Intl.DateTimeFormat(say('languageTag'), { dateStyle: 'medium' }).format(timeMs);
}

/** A duration for people, with no more precision than a prediction has: `8 sec`, `1 min 20 sec`, `2 hr 5 min`. */
export function sayDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return say('veryLong');
  // A word for less would not go with the sentences that say "about".
  if (seconds < 1) return inUnit(Math.max(0.1, seconds), 'second', 1);
  if (seconds < 59.5) return inUnit(Math.round(seconds), 'second');
  if (seconds < 595) return inTwoUnits(seconds, SECONDS_PER_MINUTE, 10, ['minute', 'second']);
  if (seconds < 3570) return inUnit(Math.round(seconds / SECONDS_PER_MINUTE), 'minute');
  return inTwoUnits(seconds / SECONDS_PER_MINUTE, MINUTES_PER_HOUR, 5, ['hour', 'minute']);
}

/** Hours and more, with no minutes: what many downloads took together. */
export function sayLongDuration(seconds: number): string {
  return seconds < 10 * SECONDS_PER_HOUR
    ? sayDuration(seconds)
    : inUnit(Math.round(seconds / SECONDS_PER_HOUR), 'hour');
}

function inTwoUnits(small: number, ratio: number, step: number, units: readonly [string, string]): string {
  const rounded = Math.round(small / step) * step;
  const [big, rest] = [Math.floor(rounded / ratio), rounded % ratio];
  const parts = [inUnit(big, units[0]), ...(rest === 0 ? [] : [inUnit(rest, units[1])])];
  return new Intl.ListFormat(say('languageTag'), { type: 'unit', style: 'narrow' }).format(parts);
}

function inSteps(value: number, units: readonly string[]): string {
  let rest = value;
  let step = 0;
  // What would be rounded to a thousand is one of the next unit.
  while (rest >= 999.5 && step < units.length - 1) {
    rest /= 1000;
    step += 1;
  }
  return inUnit(rest, units[step] ?? '', rest >= 100 ? 0 : 1);
}

function inUnit(value: number, unit: string, digits = 0): string {
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(say('languageTag'), options).format(value);
}
