import { clientPrefix } from '@longhaul/shared';
import { LruMap, OrderedMap } from '@longhaul/shared/service';
import type { Fact } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';
import { areOfTwoFamilies } from '../measuring/client-networks.ts';
import { DEPOT_PROVED } from './depot-facts.ts';
import type { DepotRecord } from './depot-store.ts';

/** A depot is known to come back to a network for so long: nothing that was measured there is left after it. */
const COMES_BACK_MS = 7 * 86_400_000;
/** Depots whose networks are remembered: more than a master knows. */
const MOST_DEPOTS = 2_000;
/** Networks that are remembered of one depot, about 100 bytes each. */
const MOST_NETWORKS = 32;

interface DepotMovesInit {
  readonly facts: Facts;
  readonly registry: { readonly record: (id: string) => Pick<DepotRecord, 'publicKey'> | undefined };
  /** Told when a depot has proved, to whichever master, that it is where nobody knew it before. */
  readonly onMoved: (depot: string) => void;
}

/** Where one depot has proved to be. */
interface Places {
  /** When last, by its networks (/24, or /48 of IPv6). */
  readonly networks: OrderedMap<string, number>;
  newestMs: number;
}

/**
 * Finds depots that are somewhere else now: another machine has their id, or theirs was moved. What was
 * measured of their links is of the place before. Who comes back to a network, by its other line or the other
 * family, has not moved; nor who is new in a family, where its neighbours' measurements may be of the same place.
 */
export class DepotMoves {
  readonly #init: DepotMovesInit;
  readonly #places = new LruMap<string, Places>(MOST_DEPOTS);

  constructor(init: DepotMovesInit) {
    this.#init = init;
    init.facts.store.watch(DEPOT_PROVED, (now, before) => now && this.#note(now, before?.timeMs));
  }

  /** `beforeMs` is the time of what its source has told of the depot before. */
  #note(
    { key: id, timeMs, value }: Fact<{ readonly publicKey: string; readonly addresses: string[] }>,
    beforeMs: number | undefined,
  ): void {
    const { facts, registry, onMoved } = this.#init;
    // Of somebody who claims the id nothing is believed.
    if (registry.record(id)?.publicKey !== value.publicKey) return;
    const places = this.#places.get(id) ?? { networks: new OrderedMap<string, number>(), newestMs: 0 };
    this.#places.set(id, places);
    const before = [...places.networks].flatMap(([network, atMs]) =>
      timeMs - atMs <= COMES_BACK_MS ? network : [],
    );
    const networks = [...new Set(value.addresses.map(clientPrefix))];
    // The same source tells it later, and earlier by its clock: that was set back.
    if (beforeMs === places.newestMs) places.newestMs = Math.min(beforeMs, timeMs);
    // What was kept, or comes late, is of a time before what has been measured since.
    const isNews = timeMs >= facts.startedAtMs && timeMs >= places.newestMs;
    places.newestMs = Math.max(places.newestMs, timeMs);
    for (const network of networks)
      places.networks.setLast(network, Math.max(timeMs, places.networks.get(network) ?? 0));
    while (places.networks.size > MOST_NETWORKS) places.networks.deleteOldest();
    if (!isNews || networks.some((network) => before.includes(network))) return;
    const isElsewhere = networks.some((network) => before.some((one) => !areOfTwoFamilies(one, network)));
    if (isElsewhere) onMoved(id);
  }
}
