import { runIp, showRoute } from '../network/namespaces.ts';
import type { Network } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import type { Topology } from '../network/topology.ts';
import { cablesOf } from '../sites/cables.ts';

/** The depots of docs/examples/entry-group. Ends of the cables: the router's, the depot's. */
export const DEPOTS = {
  rj: { cable: ['198.51.100.1', '198.51.100.2'], as: 65001, entry: '203.0.113.1' },
  sp: { cable: ['198.51.100.5', '198.51.100.6'], as: 65002, entry: '203.0.113.2' },
} as const;
export type DepotName = keyof typeof DEPOTS;
export const DEPOT_NAMES = Object.keys(DEPOTS) as readonly DepotName[];

const TOPOLOGY: Topology = {
  name: 'an entry group of two depots behind a router',
  sites: {
    client: { role: 'client' },
    router: { role: 'router' },
    origin: { role: 'origin' },
    master: { role: 'depot' },
    rj: { role: 'depot' },
    sp: { role: 'depot' },
  },
  links: ['client', 'origin', 'master', ...DEPOT_NAMES].map((site) => ({ wire: ['router', site] })),
};

export interface EntryNetwork {
  readonly network: Network;
  /** Makes a depot silent: nothing comes and nothing goes, and no device is down. */
  readonly silence: (depot: DepotName) => void;
  readonly heal: (depot: DepotName) => void;
  /** The depot that the router leads an entry address to; `undefined` while it has no route. */
  readonly holderOf: (entry: string) => DepotName | undefined;
}

/**
 * A router with cables to two depots, which both have both entry addresses, and to a client, a master and an
 * origin.
 */
export async function startEntryNetwork(): Promise<EntryNetwork> {
  const network = await startNetwork(TOPOLOGY, { seed: 1 });
  const namespaceOf = (site: string) => `${network.prefix}-${site}`;
  const { deviceAt, silence, heal } = cablesOf(network);
  const entries = DEPOT_NAMES.map((name) => DEPOTS[name].entry);
  for (const name of DEPOT_NAMES) {
    const [atRouter, atDepot] = DEPOTS[name].cable;
    runIp([`addr add ${atRouter}/30 dev ${deviceAt(['router', name], 0)}`], namespaceOf('router'));
    runIp(
      [
        `addr add ${atDepot}/30 dev ${deviceAt(['router', name], 1)}`,
        ...entries.map((entry) => `addr add ${entry}/32 dev lo`),
      ],
      namespaceOf(name),
    );
  }
  for (const site of ['client', 'master']) {
    const way = `dev ${deviceAt(['router', site], 1)} src ${network.addressOf(site)}`;
    runIp(
      entries.map((entry) => `route add ${entry}/32 ${way}`),
      namespaceOf(site),
    );
  }
  return {
    network,
    silence: (depot) => silence(['router', depot]),
    heal: (depot) => heal(['router', depot]),
    holderOf: (entry) => {
      const route = showRoute(entry, namespaceOf('router'));
      return DEPOT_NAMES.find((name) => route.includes(DEPOTS[name].cable[1]));
    },
  };
}
