import type { FaultPosition } from '../experiment.ts';

/** The shortest chain that has a depot between two others. */
export const FEWEST_AROUND_MIDDLE = 3;

/**
 * The depot of a chain, given from the client on, that stands at this position; undefined where the chain has
 * none there.
 */
export function depotAt(position: FaultPosition, chain: readonly string[]): string | undefined {
  switch (position) {
    case 'first':
      return chain[0];
    case 'middle':
      return chain.length < FEWEST_AROUND_MIDDLE ? undefined : chain[Math.floor(chain.length / 2)];
    case 'last':
      return chain.at(-1);
  }
}
