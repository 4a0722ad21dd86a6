/**
 * Links that know nothing of each other, each with a client and an origin: one cell of the grid goes on at
 * each of them.
 */
import type { Scenario } from '../experiment.ts';
import { startOriginAt } from '../hosts/origin-at.ts';
import { originBytes } from '../hosts/origin-content.ts';
import type { Network } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import type { EmulatedLink, Topology, Wire } from '../network/topology.ts';
import { applyTopology } from '../stage/apply-topology.ts';
import { fetchVariant } from '../stage/fetch-variant.ts';
import type { TransferOutcome } from '../transfers/transfer.ts';

export interface ParallelLinks {
  readonly takeLateness: Network['takeLateness'];
  /** Makes a link that of the cell; nothing may go on at it. */
  readonly enter: (link: number, cell: Scenario) => Promise<void>;
  readonly fetch: (link: number, cell: Scenario, cutSeconds: number) => Promise<TransferOutcome>;
  readonly close: () => Promise<void>;
}

/** What wires lead to, so that all sites hang together. Nobody sends anything over it. */
const HUB = 'hub';

/** Brings up so many links, each as its first cell has it, with origins that have files of these sizes. */
export async function startParallelLinks(
  first: readonly Scenario[],
  sizes: ReadonlySet<number>,
  seed: number,
): Promise<ParallelLinks> {
  let now = sideBySideTopology(first);
  const network = await startNetwork(now, { seed });
  try {
    await Promise.all(first.map((_, link) => startOriginAt(network, originAt(link), sizes)));
  } catch (failure) {
    await network.close();
    throw failure;
  }
  const cells = [...first];
  let files = 0;
  return {
    takeLateness: network.takeLateness,
    enter: async (link, cell) => {
      const before = now;
      cells[link] = cell;
      now = sideBySideTopology(cells);
      await applyTopology(network, before, now);
    },
    fetch: (link, { sizeBytes }, cutSeconds) => {
      files += 1;
      const url = `http://${network.addressOf(originAt(link))}/${sizeBytes}/${files}.bin`;
      const site = clientAt(link);
      const expected = originBytes(sizeBytes);
      return fetchVariant({ kind: 'direct' }, { network, site, url, expected, cutSeconds });
    },
    close: () => network.close(),
  };
}

/** The topologies of all cells beside each other; each has one link, from its origin to its client. */
export function sideBySideTopology(cells: readonly Scenario[]): Topology {
  const sites = cells.flatMap(({ topology, client, origin }, link) => [
    [clientAt(link), topology.sites[client] ?? { role: 'client' as const }] as const,
    [originAt(link), topology.sites[origin] ?? { role: 'origin' as const }] as const,
  ]);
  const links = cells.flatMap(({ topology }, link): (EmulatedLink | Wire)[] => [
    ...topology.links.map((one) =>
      'wire' in one ? one : { ...one, between: [originAt(link), clientAt(link)] as const },
    ),
    { wire: [clientAt(link), HUB] },
  ]);
  return {
    name: `${cells.length} links`,
    sites: { [HUB]: { role: 'router' }, ...Object.fromEntries(sites) },
    links,
  };
}

const clientAt = (link: number) => `client-${link + 1}`;
const originAt = (link: number) => `origin-${link + 1}`;
