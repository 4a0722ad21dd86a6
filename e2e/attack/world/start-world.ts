import { once } from 'node:events';
import { join } from 'node:path';
import { inNetwork } from '../../lab/hosts/network-placement.ts';
import { type CertificateFiles, writeCertificates } from '../../lab/hosts/scenario-certificates.ts';
import { setSysctls } from '../../lab/network/namespaces.ts';
import type { Network } from '../../lab/network/network.ts';
import { addressAt } from '../../lab/network/routes.ts';
import { startNetwork } from '../../lab/network/start-network.ts';
import { type Overlay, startOverlay } from '../../overlay/overlay.ts';
import { type Eyes, openEyes } from './eyes.ts';
import { DEPOT_LANES, DEPOT_LIMITS, DEPOT_STEPWISE, onSmallMachine, PUBLIC_CAPS } from './limits.ts';
import { startHelper } from './start-helper.ts';
import { ARENA, DEPOTS, PLACES } from './topology.ts';
import { startWatchdogs, type Visit } from './watchdogs.ts';
import type { ZoneAddresses } from './zone.ts';

/** How the services of a world move bytes and speak: in the kernel, through Node, or over TLS. */
export const WORLDS = ['splice', 'streams', 'tls'] as const;
export type WorldName = (typeof WORLDS)[number];

const WEB_PROGRAM = join(import.meta.dirname, 'web-main.ts');
const DEPOT_PORT = 8080;
const MASTER_PORT = 8000;
/** Linux's own, minimum, start and maximum. */
const USUAL_SEND_BUFFERS = 'net.ipv4.tcp_wmem=4096 16384 4194304';
/** An attacker that opens thousands of connections a second must not run out of ports, nor search long for one. */
const MANY_PORTS = ['net.ipv4.ip_local_port_range=1024 65535', 'net.ipv4.tcp_max_tw_buckets=500'];
/** Every link alike: the plans of the arena are chosen by hand, and alternatives are there for all. */
const LINK = { rttMs: 10, lossRate: 0, rateBps: 1e9 };

/**
 * A master, three depots and an origin as processes of their own on one network, with watch-dogs where nobody
 * may come.
 */
export interface World {
  readonly name: WorldName;
  readonly network: Network;
  readonly overlay: Overlay;
  /** Where configurations, state and logs of the overlay lie. */
  readonly overlayFolder: string;
  readonly placeOf: (place: keyof typeof PLACES) => string;
  readonly caFile: string | undefined;
  readonly eyes: Eyes;
  /** Every connection to a place that no plan names. */
  readonly visits: readonly Visit[];
  /** The URLs that the honest origin was asked for since the last call. */
  readonly takeAsked: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** Brings a world up. Rejects when it does not come up, and leaves nothing behind. */
export async function startWorld(name: WorldName, seed: number): Promise<World> {
  const network = await startNetwork(ARENA, { seed });
  // The lab's send buffers are larger than any system has them without being told.
  for (const site of Object.keys(ARENA.sites)) setSysctls(`${network.prefix}-${site}`, [USUAL_SEND_BUFFERS]);
  setSysctls(`${network.prefix}-attacker`, MANY_PORTS);
  try {
    return await furnish(name, network);
  } catch (failure) {
    await network.close();
    throw failure;
  }
}

async function furnish(name: WorldName, network: Network): Promise<World> {
  const placeOf = (place: keyof typeof PLACES) => addressAt(network.addressOf('attacker'), PLACES[place]);
  const speakers = ['master', ...DEPOTS, 'web'].map(network.addressOf);
  const certificates =
    name === 'tls' ? await writeCertificates(network.folder, ['*.files.example', ...speakers]) : undefined;
  const web = await startWeb(network, placeOf, certificates);
  const visits: Visit[] = [];
  await startWatchdogs(network, (visit) => visits.push(visit));
  const overlayFolder = join(network.folder, 'overlay');
  const overlay = await startArenaOverlay(name, network, overlayFolder, placeOf, certificates);
  const eyes = await openEyes(network, certificates?.caFile);
  return {
    name,
    network,
    overlay,
    overlayFolder,
    placeOf,
    caFile: certificates?.caFile,
    eyes,
    visits,
    takeAsked: async () => {
      const told = once(web, 'message');
      web.send('take');
      const [{ asked }] = (await told) as [{ asked: readonly string[] }];
      return asked;
    },
    close: async () => {
      // A service that the attacks have left in a bad state is killed with its network.
      await overlay.stop().catch(() => undefined);
      await network.close();
    },
  };
}

type PlaceOf = World['placeOf'];

function startWeb(network: Network, placeOf: PlaceOf, certificates: CertificateFiles | undefined) {
  const zone: ZoneAddresses = {
    web: network.addressOf('web'),
    inner: network.addressOf('inner'),
    origin: placeOf('origin'),
    metered: placeOf('metered'),
    d2: network.addressOf('d2'),
  };
  const tls = certificates ? ['--cert', certificates.certFile, '--key', certificates.keyFile] : [];
  return startHelper(network, 'web', 'web', [
    WEB_PROGRAM,
    '--host',
    zone.web,
    '--zone',
    JSON.stringify(zone),
    ...tls,
  ]);
}

function startArenaOverlay(
  name: WorldName,
  network: Network,
  dir: string,
  placeOf: PlaceOf,
  certificates: CertificateFiles | undefined,
): Promise<Overlay> {
  const web = network.addressOf('web');
  const everywhere = { metricsNetworks: ['0.0.0.0/0'] };
  // The whole arena has private addresses; these stand for public ones, for origins and for depots.
  const addresses = {
    allow: [web, placeOf('origin'), placeOf('metered')].map((address) => ({
      network: `${address}/32`,
      ports: [80, 443],
    })),
    overlayNetworks: [
      ...DEPOTS.map(network.addressOf),
      web,
      placeOf('origin'),
      placeOf('liar'),
      placeOf('misled'),
    ].map((address) => `${address}/32`),
  };
  const placement = inNetwork(network, (service) => service);
  const environment: Record<string, string> = name === 'streams' ? { LONGHAUL_RELAY: 'streams' } : {};
  return startOverlay({
    dir,
    placement: {
      ...placement,
      launchAt: (service) => (command, cwd) =>
        network.spawn(
          service,
          onSmallMachine(command, environment),
          ['ignore', 'ignore', 'pipe', 'ipc'],
          cwd,
        ),
    },
    depots: DEPOTS.map((id) => ({ id, port: DEPOT_PORT })),
    masterPort: MASTER_PORT,
    links: ends().map((between) => ({ between, ...LINK })),
    origins: ['files', 'hostile', 'slow', 'rebind', 'ip'].map((domain) => `*.${domain}.example`),
    originNetwork: `${web}/32`,
    originPorts: [80, 443],
    ...(certificates ? { tls: certificates } : {}),
    masterConfig: { ...everywhere, addresses, public: PUBLIC_CAPS, planner: { allowVia: true } },
    depotConfig: {
      ...everywhere,
      addresses,
      resolver: { servers: [web] },
      limits: DEPOT_LIMITS,
      lanes: DEPOT_LANES,
      stepwise: DEPOT_STEPWISE,
    },
  });
}

/** Every pair of ends that a plan may join. */
function ends(): (readonly [string, string])[] {
  const all = ['client', ...DEPOTS, 'origin'];
  return all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other] as const));
}
