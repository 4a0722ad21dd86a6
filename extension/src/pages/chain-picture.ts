import { CLIENT, ORIGIN } from '@longhaul/shared';
import { sayRate, sayRtt } from '../texts/figures.ts';
import { say } from '../texts/say.ts';
import { make } from './dom.ts';

/** One connection of a chain, from who sends to who receives: depot ids, {@link ORIGIN}, {@link CLIENT}. */
export interface PictureLeg {
  readonly from: string;
  readonly to: string;
  readonly rttMs: number | undefined;
  /** `undefined` where nothing has moved yet. */
  readonly bytesPerSecond: number | undefined;
}

/** Legs in one row of the popup; a longer chain stands upright. */
const MOST_IN_A_ROW = 2;

/**
 * The chain as a small picture, from the user to the origin as on the master's pages; the slowest leg is marked.
 * @param isNow whether the depots have just measured it
 */
export function chainPicture(legs: readonly PictureLeg[], isNow: boolean): HTMLElement {
  const rates = legs.flatMap(({ bytesPerSecond }) => (bytesPerSecond === undefined ? [] : [bytesPerSecond]));
  const slowest = Math.min(...rates);
  const isMarked = !isNow && legs.length > 1 && new Set(rates).size > 1;
  const list = make('ol', legs.length > MOST_IN_A_ROW ? 'chain upright' : 'chain');
  list.append(make('li', 'stop end', say('you')));
  for (const leg of legs) list.append(hop(leg, isMarked && leg.bytesPerSecond === slowest), stop(leg));
  const title = say(isNow ? 'chainNow' : 'chainPlanned');
  list.setAttribute('aria-label', title);
  return make('div', 'picture', list, make('span', 'source quiet', title));
}

function stop({ from }: PictureLeg): HTMLElement {
  return from === ORIGIN ? make('li', 'stop end', say('origin')) : make('li', 'stop', from);
}

function hop(leg: PictureLeg, isSlowest: boolean): HTMLElement {
  const rtt = leg.rttMs === undefined ? '–' : sayRtt(leg.rttMs);
  const rate = leg.bytesPerSecond === undefined ? undefined : sayRate(leg.bytesPerSecond);
  const [from, to] = [place(leg.from), place(leg.to)];
  const sentence =
    rate === undefined ? say('legQuiet', { from, to, rtt }) : say('legSpoken', { from, to, rate, rtt });
  const spoken = make('span', 'spoken', isSlowest ? `${sentence}, ${say('slowestLeg')}` : sentence);
  const shown = [make('span', 'rate', rate ?? '–'), make('span', 'line', ''), make('span', 'rtt', rtt)];
  for (const part of shown) part.setAttribute('aria-hidden', 'true');
  const item = make('li', isSlowest ? 'leg slowest' : 'leg', spoken, ...shown);
  item.title = sentence;
  return item;
}

function place(name: string): string {
  return name === CLIENT ? say('you') : name === ORIGIN ? say('origin') : name;
}
