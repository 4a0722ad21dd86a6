import {
  type Chain,
  type JobLeg,
  type JobReport,
  legGoodput,
  type OutcomeLeg,
  rateBpsOf,
} from '@longhaul/shared';
import type { RouteBasis } from '../planning/decision/route-basis.ts';
import { legEnds } from '../planning/search/chain-legs.ts';
import { hasLess } from './dispute-book.ts';

interface Told {
  readonly leg: JobLeg;
  readonly seconds: number;
}

interface TwoEnds {
  sender?: Told;
  receiver?: Told;
}

/**
 * The legs of a plan, and those that its job took besides, each with what was predicted and what its ends
 * have told.
 */
export function outcomeLegs(
  { chain, lanes, basis }: { readonly chain: Chain; readonly lanes: number; readonly basis: RouteBasis },
  reports: ReadonlyMap<string, JobReport>,
): OutcomeLeg[] {
  const ends = new Map<string, TwoEnds>();
  for (const [from, to] of legEnds(chain).map(
    ([nearClient, nearOrigin]) => [nearOrigin, nearClient] as const,
  ))
    ends.set(`${from} ${to}`, {});
  for (const [depot, { legs, seconds }] of reports) {
    for (const leg of legs) {
      const isSender = leg.sentBytes > leg.receivedBytes;
      const key = isSender ? `${depot} ${leg.peer}` : `${leg.peer} ${depot}`;
      const known = ends.get(key) ?? {};
      ends.set(key, { ...known, [isSender ? 'sender' : 'receiver']: { leg, seconds } });
    }
  }
  return [...ends].map(([key, told], index) => {
    const [from = '', to = ''] = key.split(' ');
    const predicted = index <= chain.length ? predictedLeg(basis, index, lanes) : undefined;
    const measured = measuredLeg(told);
    return { from, to, ...(predicted ? { predicted } : {}), ...(measured ? { measured } : {}) };
  });
}

function predictedLeg({ legs }: RouteBasis, index: number, lanes: number): OutcomeLeg['predicted'] {
  const leg = legs[index];
  if (!leg) return undefined;
  return { rttMs: leg.rttMs, ...legGoodput(leg, index === 0 ? 1 : lanes) };
}

function measuredLeg({ sender, receiver }: TwoEnds): OutcomeLeg['measured'] {
  // Who sends knows more: losses, and what held it back.
  const told = sender ?? receiver;
  if (!told) return undefined;
  const { connections, sentBytes, retransmittedBytes, receivedBytes, rttMs, goodputBps, limitedBy } =
    told.leg;
  const bytes = sender ? Math.max(0, sentBytes - retransmittedBytes) : receivedBytes;
  return {
    connections,
    bytes,
    meanBps: told.seconds > 0 ? rateBpsOf(bytes, told.seconds) : 0,
    ...(rttMs === undefined ? {} : { rttMs }),
    // Of these a receiver knows nothing, and nobody speaks for another.
    ...(sender && sentBytes > 0 ? { lossRate: Math.min(1, retransmittedBytes / sentBytes) } : {}),
    ...(sender && goodputBps !== undefined ? { goodputBps } : {}),
    ...(sender && limitedBy !== undefined ? { limitedBy } : {}),
    ...(sender && receiver && hasLess(receiver.leg, sender.leg) ? { isDisputed: true } : {}),
  };
}
