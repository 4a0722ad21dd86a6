const MOST = 4_294_967_295;

/** Reads the number of an autonomous system, with `AS` before it or not (RFC 5396, asplain); 0 is none's (RFC 7607). */
export function readAsNumber(text: string): number | undefined {
  const [, digits] = /^(?:[Aa][Ss])?([1-9][0-9]{0,9})$/.exec(text) ?? [];
  const number = Number(digits);
  return digits !== undefined && number <= MOST ? number : undefined;
}
