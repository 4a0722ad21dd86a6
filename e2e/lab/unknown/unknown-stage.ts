import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatGetPath, type GetOptions, parseOriginUrl } from '@longhaul/shared';
import { startOverlay } from '../../overlay/overlay.ts';
import type { UnknownWorld } from '../experiments/unknown-world.ts';
import { inNetwork } from '../hosts/network-placement.ts';
import { startOriginAt } from '../hosts/origin-at.ts';
import { originBytes } from '../hosts/origin-content.ts';
import type { Network, RunningTraffic } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import { applyTopology } from '../stage/apply-topology.ts';
import { fetchVariant } from '../stage/fetch-variant.ts';
import type { TransferOutcome, TransferRequest } from '../transfers/transfer.ts';
import { type Pair, stateOf, topologyIn, type Way } from './unknown-plan.ts';

const PORTS = { origin: 80, master: 8000, depot: 8080 };

/** A download that takes so long says nothing more. */
export const CUT_SECONDS = 90;

/** The network of an unknown world with its origins. */
export interface UnknownStage {
  readonly network: Network;
  /** Makes the world as it is in this state. */
  readonly enter: (state: string) => Promise<void>;
  /** Starts depots and a master that is told of no link; one overlay at a time. */
  readonly startOverlay: (isByHand: boolean) => Promise<UnknownOverlay>;
  readonly fetchDirect: (pair: Pair) => Promise<TransferOutcome>;
  readonly close: () => Promise<void>;
}

export interface UnknownOverlay {
  /** What a client asks the master for: by a way of its own choice, or by the master's. */
  readonly requestOf: (pair: Pair, way: Way | 'auto') => TransferRequest;
  readonly fetch: (request: TransferRequest) => Promise<TransferOutcome>;
  /** What depots have sent to test links, and have brought to clients, so far. */
  readonly bytes: () => Promise<{ readonly measuring: number; readonly carried: number }>;
  readonly stop: () => Promise<void>;
}

/** Brings up the network and the origins of a world. */
export async function startUnknownStage(world: UnknownWorld, seed: number): Promise<UnknownStage> {
  const network = await startNetwork(world.topology, { seed });
  try {
    return await furnish(world, network);
  } catch (failure) {
    await network.close();
    throw failure;
  }
}

async function furnish(world: UnknownWorld, network: Network): Promise<UnknownStage> {
  const { sizeBytes } = world;
  await Promise.all(world.origins.map((site) => startOriginAt(network, site, new Set([sizeBytes]))));
  let now = world.topology;
  let traffic: RunningTraffic | undefined;
  let files = 0;
  let overlays = 0;

  /** No file is fetched twice, so that no plan and no ticket is used again. */
  const newFile = (origin: string) => {
    files += 1;
    return `http://${network.addressOf(origin)}/${sizeBytes}/${files}.bin`;
  };
  const requestFor = ({ client }: Pair, url: string): TransferRequest => ({
    network,
    site: client,
    url,
    expected: originBytes(sizeBytes),
    cutSeconds: CUT_SECONDS,
  });
  return {
    network,
    enter: async (state) => {
      await traffic?.stop();
      traffic = undefined;
      const topology = topologyIn(world, state);
      await applyTopology(network, now, topology);
      now = topology;
      const { crossTraffic = [] } = stateOf(world, state);
      if (crossTraffic.length > 0) traffic = await network.startCrossTraffic(crossTraffic);
    },
    startOverlay: async (isByHand) => {
      overlays += 1;
      const dir = join(network.folder, `overlay-${overlays}`);
      mkdirSync(dir, { recursive: true });
      const everywhere = { metricsNetworks: ['0.0.0.0/0'] };
      const bySite = { congestionControl: 'system' };
      const overlay = await startOverlay({
        dir,
        placement: inNetwork(network, (service) => (service === 'master' ? world.master : service)),
        depots: world.depots.map((id) => ({ id, port: PORTS.depot })),
        links: [],
        masterPort: PORTS.master,
        origins: world.origins.map((site) => `${network.addressOf(site)}:${PORTS.origin}`),
        originNetwork: '10.0.0.0/8',
        originPorts: [PORTS.origin],
        depotConfig: { ...everywhere, sockets: { client: bySite, depot: bySite } },
        masterConfig: { ...everywhere, planner: { allowVia: isByHand } },
      });
      const sum = async (name: string, labels: Readonly<Record<string, string>> = {}) => {
        const counts = await Promise.all(world.depots.map((id) => overlay.metric(id, name, labels)));
        return counts.reduce((total, count) => total + count, 0);
      };
      return {
        requestOf: (pair, way) => {
          const url = parseOriginUrl(newFile(pair.origin));
          if (!url.ok) throw url.error;
          return requestFor(pair, overlay.master.url + formatGetPath(url.value, optionsOf(way, sizeBytes)));
        },
        fetch: (request) => fetchVariant({ kind: 'auto' }, request),
        bytes: async () => ({
          measuring: await sum('longhaul_depot_link_test_bytes_total', { role: 'sender' }),
          carried: await sum('longhaul_depot_body_bytes_total'),
        }),
        stop: overlay.stop,
      };
    },
    fetchDirect: (pair) => fetchVariant({ kind: 'direct' }, requestFor(pair, newFile(pair.origin))),
    close: () => network.close(),
  };
}

/** The add-on tells the size as well; who names the way is planned without it. */
function optionsOf(way: Way | 'auto', sizeBytes: number): GetOptions {
  // The master is told the depots in the order in which the bytes pass.
  return way === 'auto' ? { sizeBytes } : { via: way.depots.toReversed(), lanes: way.lanes };
}
