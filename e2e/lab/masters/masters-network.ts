import type { Network } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import type { Topology } from '../network/topology.ts';
import { type Cable, cablesOf } from '../sites/cables.ts';

export const SITE_NAMES = ['rj', 'pe', 'am'] as const;
export type SiteName = (typeof SITE_NAMES)[number];

/** Two at each site. */
export const DEPOTS: readonly { readonly id: string; readonly site: SiteName }[] = SITE_NAMES.flatMap(
  (site) => [1, 2].map((number) => ({ id: `${site}${number}`, site })),
);

/** Between each two sites. */
const CABLES: readonly Cable[] = [
  ['rj', 'pe'],
  ['rj', 'am'],
  ['pe', 'am'],
];

const TOPOLOGY: Topology = {
  name: 'three sites with a cable between each two, and a router for clients and an origin',
  sites: {
    client: { role: 'client' },
    router: { role: 'router' },
    origin: { role: 'origin' },
    ...Object.fromEntries(SITE_NAMES.map((site) => [site, { role: 'router' as const }])),
    ...Object.fromEntries(DEPOTS.map(({ id }) => [id, { role: 'depot' as const }])),
  },
  links: [
    ...['client', 'origin', ...SITE_NAMES].map((site) => ({ wire: ['router', site] }) as const),
    ...CABLES.map((wire) => ({ wire })),
    ...DEPOTS.map(({ id, site }) => ({ wire: [site, id] }) as const),
  ],
};

export interface MastersNetwork {
  readonly network: Network;
  /** Makes the cables of a site silent that lead to these other ones; clients and the origin still reach it. */
  readonly cut: (site: SiteName, others: readonly SiteName[]) => void;
  /** Makes all cables whole. */
  readonly heal: () => void;
}

/** Three sites that clients reach over a router, and each other over cables of their own, which can be cut. */
export async function startMastersNetwork(): Promise<MastersNetwork> {
  const network = await startNetwork(TOPOLOGY, { seed: 1 });
  const { silence, heal } = cablesOf(network);
  return {
    network,
    cut: (site, others) => {
      for (const cable of CABLES)
        if (cable.includes(site) && others.some((other) => cable.includes(other))) silence(cable);
    },
    heal: () => {
      for (const cable of CABLES) heal(cable);
    },
  };
}
