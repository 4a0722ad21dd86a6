import { CLIENT } from '@longhaul/shared';
import { type EndLegs, isMeasured } from './end-leg.ts';
import { nearest } from './nearest-legs.ts';
import { UNKNOWN_RATE } from './origin-holds.ts';

/** A depot that may be so much nearer to a client than all that have measured it is worth a download to know ... */
const MAY_BE_NEARER = 0.5;
/**
 * ... and so is any other one where a client's line may carry so many times as much as the depot that serves
 * it has ever sent to anybody.
 */
const MAY_BE_WIDER = 1.3;

/**
 * The depots that may be much nearer to a client than those that have measured it, `entries`, or send to it
 * what the nearest of those cannot. Their legs, which are worked out, become as all that is known makes them:
 * no longer than the triangles allow, and with the line and the losses of the nearest one that has measured
 * it. What knows the network by another one learns nothing of it from one more download.
 */
export function withUnmet(
  client: EndLegs,
  entries: ReadonlySet<string>,
  hasMet: (depot: string) => boolean,
): ReadonlySet<string> {
  const metLegs = new Map([...client].filter(([id, leg]) => entries.has(id) && isMeasured(leg)));
  const [nearestOne] = nearest(metLegs, 1);
  const unmet = new Set<string>();
  if (!nearestOne) return unmet;
  const [met, { link: known, doubt: ofKnown }] = nearestOne;
  const { rateBps, lossRate, goodputBps, rateSource, lineBps = rateBps } = known;
  const mostBps = Math.max(...[...metLegs.values()].map(({ link }) => link.rateBps));
  const mayBeWider = lineBps >= MAY_BE_WIDER * mostBps;
  const mostLeastMs = mayBeWider ? Number.POSITIVE_INFINITY : MAY_BE_NEARER * known.rttMs;
  // What one depot's own line carries says nothing of another one's.
  const rate = mayBeWider
    ? { figures: { rateBps: lineBps, goodputBps: undefined }, doubt: { rate: UNKNOWN_RATE.spread } }
    : {
        figures: { rateBps, goodputBps, ...(rateSource ? { rateSource } : {}) },
        doubt: { rate: ofKnown.rate, rateAs: `${CLIENT} ${met}` },
      };
  for (const [depot, { link, doubt, bounds }] of client) {
    if (entries.has(depot) || hasMet(depot) || !bounds || bounds.leastMs > mostLeastMs) continue;
    client.set(depot, {
      // A short leg says nothing of what a longer one loses.
      link: {
        ...link,
        ...rate.figures,
        lossRate: bounds.leastMs > known.rttMs ? Math.max(link.lossRate, lossRate) : lossRate,
      },
      doubt: { rtt: doubt.rtt, loss: ofKnown.loss, ...rate.doubt, mostRttMs: bounds.mostMs },
      bounds,
    });
    unmet.add(depot);
  }
  return unmet;
}
