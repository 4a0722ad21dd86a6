import { join } from 'node:path';
import { DEPOT_CONGESTION_CONTROL, USUAL_CONGESTION_CONTROL } from '@longhaul/shared';
import { type MasterChange, type Overlay, startOverlay } from '../../overlay/overlay.ts';
import { type LaneSetup, masterSite, type Scenario } from '../experiment.ts';
import type { Network } from '../network/network.ts';
import { linkEstimates } from './link-estimates.ts';
import { LogTail } from './log-tail.ts';
import { inNetwork } from './network-placement.ts';
import type { CertificateFiles } from './scenario-certificates.ts';

/** Overlays that stand beside each other at the same sites have ports of their own. */
const PORTS = {
  usual: { master: 8000, depot: 8080 },
  coupled: { master: 8001, depot: 8081 },
  plain: { master: 8002, depot: 8082 },
  'coupled-spread': { master: 8003, depot: 8083 },
  'plain-spread': { master: 8004, depot: 8084 },
} as const;

const LANES = {
  coupled: { control: 'coupled' },
  plain: { control: 'plain' },
  'coupled-spread': { control: 'coupled', spread: true },
  'plain-spread': { control: 'plain', spread: true },
} as const satisfies Readonly<Record<LaneSetup, object>>;

/** The topology says what each site sends with, by its namespace's default. */
const BY_NAMESPACE = {
  client: { congestionControl: 'system' },
  depot: { congestionControl: 'system' },
};

export interface LabOverlay {
  readonly masterUrl: () => string;
  /** Makes the master know the links of another scenario. */
  readonly learn: (scenario: Scenario) => Promise<void>;
  readonly depotPid: (id: string) => number;
  /** How often downloads have left a way, or found none, since the depots began; all depots must live. */
  readonly wayChanges: () => Promise<number>;
  /** What the depots have logged, by depot. */
  readonly logs: ReadonlyMap<string, LogTail>;
  /** Ends a depot without notice. */
  readonly killDepot: (id: string) => Promise<void>;
  /** Starts a depot again that was killed, with the identity it had. */
  readonly restartDepot: (id: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface LabOverlaySpec {
  readonly network: Network;
  readonly scenario: Scenario;
  readonly originPort: number;
  readonly certificates?: CertificateFiles | undefined;
  /** What its depots are told about lanes; left out: nothing. */
  readonly laneSetup?: LaneSetup | undefined;
}

/** Metrics of a depot that count what a download notices of a way that does not hold. */
const WAY_CHANGES = ['longhaul_depot_failovers_total', 'longhaul_depot_chain_failures_total'];

/** Longhaul itself in a network: a depot at every depot site of the scenario, and a master. */
export async function startLabOverlay(spec: LabOverlaySpec): Promise<LabOverlay> {
  const { network, scenario, originPort, certificates, laneSetup } = spec;
  const name = laneSetup ?? 'usual';
  const ports = PORTS[name];
  const site = masterSite(scenario);
  const originAddress = network.addressOf(scenario.origin);
  const everywhere = { metricsNetworks: ['0.0.0.0/0'] };
  const dir = join(network.folder, `overlay-${name}`);
  let known = knowledgeOf(scenario);
  const overlay: Overlay = await startOverlay({
    dir,
    placement: inNetwork(network, (service) => (service === 'master' ? site : service)),
    depots: scenario.depots.map((id) => ({ id, port: ports.depot })),
    masterPort: ports.master,
    origins: [`${originAddress}:${originPort}`],
    originNetwork: `${originAddress}/32`,
    originPorts: [originPort],
    ...(certificates ? { tls: certificates } : {}),
    depotConfig: {
      ...everywhere,
      sockets: BY_NAMESPACE,
      ...(scenario.start === 'cold' ? { limits: { spareLegs: 0 } } : {}),
      ...(laneSetup ? { lanes: LANES[laneSetup] } : {}),
    },
    ...known,
    masterConfig: { ...everywhere, ...known.masterConfig },
  });
  return {
    masterUrl: () => overlay.master.url,
    wayChanges: async () => {
      const counts = scenario.depots.flatMap((id) => WAY_CHANGES.map((name) => overlay.metric(id, name)));
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
    learn: async (next) => {
      const wanted = knowledgeOf(next);
      if (JSON.stringify(wanted) === JSON.stringify(known)) return;
      known = wanted;
      await overlay.master.stop();
      await overlay.restartMaster({ ...wanted, masterConfig: { ...everywhere, ...wanted.masterConfig } });
    },
    logs: new Map(scenario.depots.map((id) => [id, new LogTail(join(dir, `${id}.log`))])),
    depotPid: (id) => overlay.depot(id).pid,
    killDepot: (id) => overlay.depot(id).kill(),
    restartDepot: overlay.restartDepot,
    stop: overlay.stop,
  };
}

/**
 * What the master is told: the lab's own link data where it shall have them, with the client's window and
 * what the origin sends with; and what depots send with.
 */
function knowledgeOf(scenario: Scenario): Required<MasterChange> {
  const { sites } = scenario.topology;
  const originSender = sites[scenario.origin]?.congestionControl ?? USUAL_CONGESTION_CONTROL;
  const assumptions = {
    ...(scenario.isUntold ? {} : { originSender }),
    depotSender: sites[scenario.depots[0] ?? '']?.congestionControl ?? DEPOT_CONGESTION_CONTROL,
  };
  return {
    links: scenario.isUntold ? [] : linkEstimates(scenario),
    masterConfig: {
      // Who is told the true links is held against these, not against what the cell before took.
      planner: { allowVia: true, learnWays: scenario.isUntold === true, assumptions },
    },
  };
}
