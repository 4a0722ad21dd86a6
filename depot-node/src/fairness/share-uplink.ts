/** Part of an equal share that everybody keeps: enough to be noticed when it wants more. */
const RESTING_PART = 1 / 8;

/**
 * Max-min fair shares (progressive filling) of a rate for these demands, all in bits per second: nobody gets more than
 * somebody who wants more than he has. `Infinity` wants all there is; no demand counts as less than an eighth of an
 * equal share. What nobody asked for is spread evenly, so the shares always add up to the rate and none of them is 0.
 */
export function shareUplink(rateBps: number, demandsBps: readonly number[]): number[] {
  const floorBps = (rateBps / demandsBps.length) * RESTING_PART;
  const wanted = demandsBps
    .map((demandBps, index) => ({ index, demandBps: Math.max(demandBps, floorBps) }))
    .toSorted((one, other) => one.demandBps - other.demandBps);
  const shares = demandsBps.map(() => 0);
  let restBps = rateBps;
  let left = wanted.length;
  for (const { index, demandBps } of wanted) {
    const shareBps = Math.min(demandBps, restBps / left);
    shares[index] = shareBps;
    restBps -= shareBps;
    left -= 1;
  }
  const spreadBps = Math.max(0, restBps) / demandsBps.length;
  return shares.map((shareBps) => shareBps + spreadBps);
}
