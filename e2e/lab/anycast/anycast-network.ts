import { runIp, showRoute } from '../network/namespaces.ts';
import type { Network } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import type { Topology } from '../network/topology.ts';
import { cablesOf } from '../sites/cables.ts';

/** The address of all masters in docs/examples/anycast. */
export const MASTERS_ADDRESS = '192.0.2.1';
/** The one name of all masters, in docs/operators.md. */
export const MASTERS_NAME = 'get.example';

/** Where the origin sends as fast as it can, and where more slowly. */
export const ORIGIN_PORTS = { fast: 80, paced: 8080 } as const;

/** The sites in the order in which the client's router prefers them. Ends of the cables: the router's, the site's. */
export const SITES = {
  rj: { cable: ['198.51.100.1', '198.51.100.2'], engine: 'bird', as: 65001 },
  pe: { cable: ['198.51.100.5', '198.51.100.6'], engine: 'bird', as: 65002 },
  am: { cable: ['198.51.100.9', '198.51.100.10'], engine: 'exabgp', as: 65003 },
} as const;
export type SiteName = keyof typeof SITES;
export const SITE_NAMES = Object.keys(SITES) as readonly SiteName[];

const TOPOLOGY: Topology = {
  name: 'three sites behind one address',
  sites: {
    client: { role: 'client' },
    router: { role: 'router' },
    origin: { role: 'origin' },
    rj: { role: 'depot' },
    pe: { role: 'depot' },
    am: { role: 'depot' },
  },
  links: ['client', 'origin', ...SITE_NAMES].map((site) => ({ wire: ['router', site] })),
};

export interface AnycastNetwork {
  readonly network: Network;
  /** Makes a site silent: nothing comes and nothing goes, and no device is down. */
  readonly silence: (site: SiteName) => void;
  readonly heal: (site: SiteName) => void;
  /** The router's route to the masters' address, as `ip` tells it; empty where it has none. */
  readonly routeToMasters: () => string;
}

/** A router with cables to the sites, an origin and a client that knows nothing but the router. */
export async function startAnycastNetwork(): Promise<AnycastNetwork> {
  const network = await startNetwork(TOPOLOGY, { seed: 1 });
  const namespaceOf = (site: string) => `${network.prefix}-${site}`;
  const { deviceAt, silence, heal } = cablesOf(network);
  const deviceOf = (site: string, end: 0 | 1) => deviceAt(['router', site], end);
  for (const site of SITE_NAMES) {
    const [atRouter, atSite] = SITES[site].cable;
    runIp([`addr add ${atRouter}/30 dev ${deviceOf(site, 0)}`], namespaceOf('router'));
    runIp([`addr add ${atSite}/30 dev ${deviceOf(site, 1)}`], namespaceOf(site));
  }
  // A site that does not have the address itself reaches it as everybody does.
  for (const site of ['client', ...SITE_NAMES]) {
    const route = `route add ${MASTERS_ADDRESS}/32 dev ${deviceOf(site, 1)} src ${network.addressOf(site)}`;
    runIp([route], namespaceOf(site));
  }
  return {
    network,
    silence: (site) => silence(['router', site]),
    heal: (site) => heal(['router', site]),
    routeToMasters: () => showRoute(MASTERS_ADDRESS, namespaceOf('router')),
  };
}
