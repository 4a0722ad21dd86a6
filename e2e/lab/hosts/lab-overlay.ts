import { join } from 'node:path';
import { type MasterChange, type Overlay, startOverlay } from '../../overlay/overlay.ts';
import type { Scenario } from '../experiments/experiment.ts';
import type { Network } from '../network/network.ts';
import { linkEstimates } from './link-estimates.ts';
import { inNetwork } from './network-placement.ts';
import type { CertificateFiles } from './scenario-certificates.ts';

const MASTER_PORT = 8000;
const DEPOT_PORT = 8080;

/** The topology says what each site sends with, by its namespace's default. */
const BY_NAMESPACE = {
  client: { congestionControl: 'system' },
  depot: { congestionControl: 'system' },
};

export interface LabOverlay {
  readonly masterUrl: () => string;
  /** Makes the master know the links of another scenario. */
  readonly learn: (scenario: Scenario) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Longhaul itself in a network: a depot at every depot site of the scenario, the master at the first of them. */
export async function startLabOverlay(
  network: Network,
  scenario: Scenario,
  originPort: number,
  certificates?: CertificateFiles,
): Promise<LabOverlay> {
  const masterSite = scenario.depots[0] ?? scenario.client;
  const originAddress = network.addressOf(scenario.origin);
  const everywhere = { metricsNetworks: ['0.0.0.0/0'] };
  let known = knowledgeOf(scenario);
  const overlay: Overlay = await startOverlay({
    dir: join(network.folder, 'overlay'),
    placement: inNetwork(network, (service) => (service === 'master' ? masterSite : service)),
    depots: scenario.depots.map((id) => ({ id, port: DEPOT_PORT })),
    masterPort: MASTER_PORT,
    origins: [`${originAddress}:${originPort}`],
    originNetwork: `${originAddress}/32`,
    originPorts: [originPort],
    ...(certificates ? { tls: certificates } : {}),
    depotConfig: {
      ...everywhere,
      sockets: BY_NAMESPACE,
      ...(scenario.start === 'cold' ? { limits: { spareLegs: 0 } } : {}),
    },
    ...known,
    masterConfig: { ...everywhere, ...known.masterConfig },
  });
  return {
    masterUrl: () => overlay.master.url,
    learn: async (next) => {
      const wanted = knowledgeOf(next);
      if (JSON.stringify(wanted) === JSON.stringify(known)) return;
      known = wanted;
      await overlay.master.stop();
      await overlay.restartMaster({ ...wanted, masterConfig: { ...everywhere, ...wanted.masterConfig } });
    },
    stop: overlay.stop,
  };
}

/** What the master is told: the lab's own link data, the client's window, and what origin and depots send with. */
function knowledgeOf(scenario: Scenario): Required<MasterChange> {
  const { sites } = scenario.topology;
  const assumptions = {
    originSender: sites[scenario.origin]?.congestionControl ?? 'cubic',
    depotSender: sites[scenario.depots[0] ?? '']?.congestionControl ?? 'bbr',
  };
  return {
    links: linkEstimates(scenario),
    masterConfig: {
      planner: { allowVia: true, assumptions },
    },
  };
}
