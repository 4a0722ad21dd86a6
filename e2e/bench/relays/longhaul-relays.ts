import { join } from 'node:path';
import { inNetwork } from '../../lab/hosts/network-placement.ts';
import type { Network } from '../../lab/network/network.ts';
import { type Overlay, startOverlay } from '../../overlay/overlay.ts';
import type { Placement } from '../../overlay/placement.ts';
import { onCore, RELAY_CORE, type Relay, SITE, TRAFFIC_CORE } from './relay.ts';
import { tunnelTicket } from './tunnel-ticket.ts';

/** How depots carry bytes; a depot's id here, and the label of its own metric. */
export type Plane = 'splice' | 'streams';
export type LonghaulId = 'longhaul-splice' | 'longhaul-streams';

/** Counted by depots: flows relayed, by the plane that carried them. */
const FLOWS_METRIC = 'longhaul_depot_relay_flows_total';
/** More flows of one client and one ticket than any run has; a depot's own limits are meant for many clients. */
const MOST_FLOWS = 4000;

/** Large enough for 20 MB/s at 10 ms; what a careful operator with many slow clients sets. */
const CAP_BYTES = 256 * 1024;
/** Caps on what a client does not read and on what an origin sends meanwhile. */
export const CAPPED_SOCKETS = {
  client: { sendBufferBytes: CAP_BYTES },
  origin: { receiveBufferBytes: CAP_BYTES },
} as const;

/** A master, and for each id a depot as a process of its own, on the relays' core. */
export async function startLonghaulRelays(spec: {
  readonly network: Network;
  /** Of this overlay, among others of the network. */
  readonly name: string;
  readonly sourcePort: number;
  readonly masterPort: number;
  readonly depots: readonly { readonly id: LonghaulId; readonly port: number }[];
  /** Options of sockets by leg, beside the congestion control. */
  readonly sockets?: { readonly client: object; readonly origin: object };
}): Promise<Relay[]> {
  const { network, name, sourcePort, masterPort, sockets } = spec;
  const host = network.addressOf(SITE);
  const dir = join(network.folder, name);
  const everywhere = { metricsNetworks: ['0.0.0.0/0'] };
  const placement = onCores(network);
  // As everybody else here: what the kernel of this namespace is set to.
  const congestionControl = 'system';
  const overlay = await startOverlay({
    dir,
    placement,
    depots: spec.depots.map(({ id, port }) => ({ id: planeOf(id), port })),
    masterPort,
    links: [],
    origins: [`${host}:${sourcePort}`],
    originNetwork: `${host}/32`,
    originPorts: [sourcePort],
    masterConfig: everywhere,
    depotConfig: {
      ...everywhere,
      sockets: {
        client: { congestionControl, ...sockets?.client },
        origin: { congestionControl, ...sockets?.origin },
      },
      limits: {
        transfers: MOST_FLOWS,
        perJob: MOST_FLOWS,
        tunnelsPerJob: MOST_FLOWS,
        perClient: MOST_FLOWS,
        perNetwork: MOST_FLOWS,
        perOrigin: MOST_FLOWS,
        connectionsPerNetwork: MOST_FLOWS,
        waitingPerNetwork: MOST_FLOWS,
      },
    },
  });
  const keys = JSON.parse(
    await placement.getText('master', `${overlay.master.url}/.well-known/jwks.json`),
  ) as { readonly keys: readonly { readonly kid: string }[] };
  const keyId = keys.keys[0]?.kid ?? '';
  const keyFile = join(dir, 'master', 'signing-key.pem');
  return spec.depots.map(({ id, port }) => {
    const depot = planeOf(id);
    const ticket = tunnelTicket({ depot, host, port: sourcePort, keyId, keyFile });
    return {
      id,
      pid: overlay.depot(depot).pid,
      port,
      way: { kind: 'connect', authorization: `Longhaul ${ticket}` },
      planeObstacle: () => planeObstacle(overlay, depot),
    };
  });
}

function planeOf(id: LonghaulId): Plane {
  return id === 'longhaul-splice' ? 'splice' : 'streams';
}

/** Everything in the network: depots on the relays' core, the master out of their way. */
function onCores(network: Network): Placement {
  const inside = inNetwork(network, () => SITE);
  return {
    ...inside,
    launchAt: (service) => (command, cwd) => {
      const settings = service === 'streams' ? ['LONGHAUL_RELAY=streams'] : [];
      const core = service === 'master' ? TRAFFIC_CORE : RELAY_CORE;
      return inside.launchAt(service)(['env', ...settings, ...onCore(core, command)], cwd);
    },
  };
}

/** Why the depot's figures would not be those of the plane it stands for. */
async function planeObstacle(overlay: Overlay, plane: Plane): Promise<string | undefined> {
  const count = (label: Plane) => overlay.metric(plane, FLOWS_METRIC, { plane: label });
  const [spliced, streamed] = [await count('splice'), await count('streams')];
  const isRight = plane === 'splice' ? spliced > 0 && streamed === 0 : spliced === 0;
  return isRight ? undefined : `its depot has spliced ${spliced} flows and streamed ${streamed}`;
}
