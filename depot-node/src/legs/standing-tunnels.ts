import type { Duplex } from 'node:stream';
import { type Authority, formatAuthority, LonghaulError } from '@longhaul/shared';
import { FairCrowds } from '../jobs/shared-limits.ts';

/** Of its transfers, and of those of one origin, what a depot gives to one neighbour (see `JobTable`). */
const SHARE_OF_NEIGHBOUR = 0.5;

/** How many transfers a neighbour takes, as far as this depot knows: as many as it takes itself. */
export interface NeighbourLimits {
  readonly transfers: number;
  readonly perOrigin: number;
}

/**
 * Tunnels through neighbours that stand for clients. A neighbour counts all of them as this depot's, and not by client:
 * so no client network may have more of them here than it leaves free, whether it reads or not.
 */
export class StandingTunnels {
  readonly #byNeighbour: FairCrowds;
  readonly #byOrigin: FairCrowds;

  constructor({ transfers, perOrigin }: NeighbourLimits) {
    this.#byNeighbour = new FairCrowds(Math.ceil(transfers * SHARE_OF_NEIGHBOUR));
    this.#byOrigin = new FairCrowds(Math.ceil(perOrigin * SHARE_OF_NEIGHBOUR));
  }

  /** Builds a tunnel in the client network's room, and holds it there until the tunnel closes. Throws `next-depot-crowded`. */
  async hold(
    client: string,
    next: string,
    { host, port }: Authority,
    setUp: () => Promise<Duplex>,
  ): Promise<Duplex> {
    const origin = `${next} ${formatAuthority(host, port)}`;
    if (this.#byNeighbour.isFullFor(next, client) || this.#byOrigin.isFullFor(origin, client))
      throw new LonghaulError('next-depot-crowded', { depot: next });
    const count = (by: 1 | -1) => {
      this.#byNeighbour.change(next, client, by);
      this.#byOrigin.change(origin, client, by);
    };
    count(1);
    try {
      const tunnel = await setUp();
      if (tunnel.closed) count(-1);
      else tunnel.once('close', () => count(-1));
      return tunnel;
    } catch (failure) {
      count(-1);
      throw failure;
    }
  }
}
