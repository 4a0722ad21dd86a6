/** A duration for people, with no more precision than a prediction has: `8 s`, `1 min 20 s`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'very long';
  if (seconds < 1) return 'under 1 s';
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 595) return join(seconds, 60, 10, 'min', 's');
  if (seconds < 3570) return `${Math.round(seconds / 60)} min`;
  return join(seconds / 60, 60, 5, 'h', 'min');
}

function join(small: number, ratio: number, step: number, bigUnit: string, smallUnit: string): string {
  const rounded = Math.round(small / step) * step;
  const rest = rounded % ratio;
  return `${Math.floor(rounded / ratio)} ${bigUnit}${rest === 0 ? '' : ` ${rest} ${smallUnit}`}`;
}
