import { setTimeout as delay } from 'node:timers/promises';
import {
  type LaneSetup,
  masterSite,
  type RivalRelay,
  rivalOf,
  type Scenario,
  type Variant,
} from '../experiment.ts';
import { startHaproxyChain, startKeptHaproxyChain } from '../hosts/haproxy.ts';
import { type LabOverlay, startLabOverlay } from '../hosts/lab-overlay.ts';
import { startNginxChain } from '../hosts/nginx.ts';
import { startOriginAt } from '../hosts/origin-at.ts';
import type { RelayChain } from '../hosts/relay-chain.ts';
import { type CertificateFiles, writeCertificates } from '../hosts/scenario-certificates.ts';
import type { Network, RunningTraffic } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import { applyTopology } from './apply-topology.ts';

const RIVALS = {
  haproxy: startHaproxyChain,
  'haproxy-kept': startKeptHaproxyChain,
  nginx: startNginxChain,
} as const satisfies Record<RivalRelay, unknown>;
/** The port of the first rival's relays; those of each further one are at the next. */
const RIVALS_PORT = 8090;
/** Long flows have left slow start and share the link by then. */
const CROSS_TRAFFIC_SETTLE_MS = 1500;

/** A network with an origin, the overlay and the rivals on it: where the transfers of a stint happen. */
export interface Stage {
  readonly network: Network;
  readonly originUrl: string;
  /** The overlay whose depots are configured so; without a name the usual one. */
  readonly overlay: (laneSetup?: LaneSetup) => LabOverlay;
  /** The base URL under which the first of the relays is dialled that only this variant uses. */
  readonly relayUrl: (variant: Variant) => string;
  readonly caFile: string | undefined;
  /** Makes the conditions those of this scenario. */
  readonly enter: (scenario: Scenario) => Promise<void>;
  /**
   * Starts a scenario's cross traffic anew: flows that the transfer before has pushed aside need seconds to come back,
   * and transfers shall not know what went before. Call before each transfer.
   */
  readonly refreshTraffic: (scenario: Scenario) => Promise<void>;
  /** What the cross traffic that runs has brought so far; undefined where there is none. */
  readonly crossBytes: () => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

export interface StageSpec {
  /** Scenarios that share one network; the stage is set for the first. */
  readonly scenarios: readonly [Scenario, ...Scenario[]];
  /** Only what these need is started. */
  readonly variants: readonly string[];
  readonly seed: number;
}

/** Brings up a network and everything on it. */
export async function startStage(spec: StageSpec): Promise<Stage> {
  const network = await startNetwork(spec.scenarios[0].topology, { seed: spec.seed });
  try {
    return await furnish(network, spec);
  } catch (failure) {
    await network.close();
    throw failure;
  }
}

async function furnish(network: Network, { scenarios, variants }: StageSpec): Promise<Stage> {
  const [first] = scenarios;
  const kinds = scenarios.flatMap((scenario) => variants.flatMap((id) => scenario.variants[id] ?? []));
  const certificates = first.tls ? await certificatesFor(network, first) : undefined;
  const sizes = new Set(scenarios.map(({ sizeBytes }) => sizeBytes));
  const origin = await startOriginAt(network, first.origin, sizes, certificates);
  const originPort = portOf(origin.url);
  const overlays = new Map<LaneSetup | undefined, LabOverlay>();
  for (const laneSetup of new Set(kinds.flatMap(overlaysOf))) {
    const spec = { network, scenario: first, originPort, certificates, laneSetup };
    overlays.set(laneSetup, await startLabOverlay(spec));
  }
  // Relays keep connections for later requests: what one variant has left would hold another one back.
  const relays = new Map<string, RelayChain>();
  for (const variant of kinds) {
    const rival = rivalOf(variant);
    if (rival === undefined || relays.has(JSON.stringify(variant))) continue;
    const originAddress = network.addressOf(first.origin);
    const port = RIVALS_PORT + relays.size;
    const spec = { network, sites: first.depots, port, originAddress, originPort, certificates };
    relays.set(JSON.stringify(variant), await RIVALS[rival](spec));
  }

  let now = first;
  let traffic: RunningTraffic | undefined;
  const enter = async (scenario: Scenario) => {
    await applyTopology(network, now.topology, scenario.topology);
    await Promise.all([...overlays.values()].map((overlay) => overlay.learn(scenario)));
    now = scenario;
  };
  const refreshTraffic = async ({ crossTraffic = [] }: Scenario) => {
    await traffic?.stop();
    traffic = undefined;
    if (crossTraffic.length === 0) return;
    traffic = await network.startCrossTraffic(crossTraffic);
    await delay(CROSS_TRAFFIC_SETTLE_MS);
  };
  return {
    network,
    originUrl: origin.url,
    overlay: (laneSetup) => requireStarted(overlays.get(laneSetup), 'the overlay'),
    relayUrl: (variant) => requireStarted(relays.get(JSON.stringify(variant)), 'its relays').url,
    caFile: certificates?.caFile,
    enter,
    refreshTraffic,
    crossBytes: async () => traffic?.receivedBytes(),
    close: async () => {
      const hosts = [...overlays.values(), origin];
      await Promise.allSettled([traffic?.stop(), ...hosts.map((host) => host.stop())]);
      await network.close();
    },
  };
}

/** The overlay that a variant is fetched through, if any. */
function overlaysOf(variant: Variant): (LaneSetup | undefined)[] {
  return variant.kind === 'chain' || variant.kind === 'auto' ? [variant.laneSetup] : [];
}

function certificatesFor(network: Network, scenario: Scenario): Promise<CertificateFiles> {
  const { client, origin, depots } = scenario;
  const sites = new Set([client, origin, masterSite(scenario), ...depots]);
  return writeCertificates(network.folder, [...sites].map(network.addressOf));
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

function requireStarted<T>(host: T | undefined, name: string): T {
  if (host === undefined) throw new Error(`${name} was not started for this stint`);
  return host;
}
