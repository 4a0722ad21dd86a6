import { CLIENT, ORIGIN, type RunningLeg } from '@longhaul/shared';
import type { PictureLeg } from './chain-picture.ts';

/**
 * The chain that carries most now, from the client on, out of all legs of a download: lanes may go over several.
 * `undefined` while nobody tells of a way from the client to the origin.
 */
export function chainOfLegs(legs: readonly RunningLeg[]): readonly PictureLeg[] | undefined {
  const chain: PictureLeg[] = [];
  let place: string = CLIENT;
  while (place !== ORIGIN) {
    const [leg] = legs
      .filter(({ to, from }) => to === place && !chain.some((known) => known.to === from))
      .toSorted((one, other) => other.goodputBps - one.goodputBps);
    if (!leg) return undefined;
    const { from, to, rttMs, goodputBps } = leg;
    chain.push({ from, to, rttMs, bytesPerSecond: goodputBps > 0 ? goodputBps / 8 : undefined });
    place = from;
  }
  return chain;
}
