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
  readonly #places = new WeakMap<Duplex, () => void>();

  constructor({ transfers, perOrigin }: NeighbourLimits) {
    this.#byNeighbour = new FairCrowds(Math.ceil(transfers * SHARE_OF_NEIGHBOUR));
    this.#byOrigin = new FairCrowds(Math.ceil(perOrigin * SHARE_OF_NEIGHBOUR));
  }

  /**
   * Builds a tunnel in the client network's room, and holds it there until the tunnel closes, or until its
   * place is taken over and given back. Throws `next-depot-crowded`.
   */
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
      const leave = () => count(-1);
      if (tunnel.closed) leave();
      else {
        tunnel.once('close', leave);
        this.#places.set(tunnel, leave);
      }
      return tunnel;
    } catch (failure) {
      count(-1);
      throw failure;
    }
  }

  /**
   * Takes over the place of a tunnel whose stream may close before it: the kernel may carry it on. Gives what
   * is to be called once, when it has ended.
   */
  takePlace(tunnel: Duplex): () => void {
    const leave = this.#places.get(tunnel);
    if (!leave || tunnel.closed) return () => undefined;
    this.#places.delete(tunnel);
    tunnel.off('close', leave);
    return leave;
  }
}
