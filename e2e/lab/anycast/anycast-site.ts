import type { ChildProcess } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceProcess, startService } from '../../overlay/service-process.ts';
import { findNatsServer } from '../../programs/nats-server.ts';
import { inNetwork } from '../hosts/network-placement.ts';
import type { CertificateFiles } from '../hosts/scenario-certificates.ts';
import type { Network } from '../network/network.ts';
import { requireProgram } from '../programs.ts';
import { LabRefusal } from '../refusal.ts';
import { startBird } from '../sites/bird.ts';
import { fillExample } from '../sites/fill-example.ts';
import {
  MASTERS_ADDRESS,
  MASTERS_NAME,
  ORIGIN_PORTS,
  SITE_NAMES,
  SITES,
  type SiteName,
} from './anycast-network.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const ANNOUNCE = join(ROOT, 'master-service', 'src', 'announce', 'main.ts');
const DEPOT_PORT = 8443;
/** Routes change faster here than between networks. */
const DRAIN_SECONDS = 2;

export interface AnycastSite {
  readonly name: SiteName;
  /** The site's own address: its depot's, and nobody's way to the master. */
  readonly address: string;
  readonly master: () => ServiceProcess;
  /** Starts the master again after it has ended. */
  readonly restartMaster: () => Promise<void>;
  /**
   * Starts what announces the address, and asks the master first; gives the process: of ExaBGP, which starts
   * longhaul-announce, or of that itself.
   */
  readonly announce: () => ChildProcess;
  readonly depot: ServiceProcess;
}

export interface AnycastSiteSpec {
  readonly name: SiteName;
  readonly network: Network;
  readonly certificates: CertificateFiles;
  readonly originAddress: string;
  /** Of the one overlay: all masters have it. */
  readonly secret: string;
  readonly bfdMs: number;
}

/** Starts a file of the examples' program in the site's namespace; what it says goes to a log in its folder. */
function spawnLogged(
  { network, name }: AnycastSiteSpec,
  folder: string,
  command: readonly string[],
): ChildProcess {
  const log = openSync(join(folder, 'routing.log'), 'a');
  return network.spawn(name, ['env', 'exabgp.daemon.user=root', ...command], ['ignore', log, log], folder);
}

/** A nats-server that the site's master alone speaks with, and those of the other sites. */
function startNats(spec: AnycastSiteSpec, folder: string): void {
  const others = SITE_NAMES.filter((site) => site !== spec.name);
  const file = join(folder, 'nats-server.conf');
  writeFileSync(
    file,
    `listen: "127.0.0.1:4222"
cluster {
  name: longhaul
  listen: "${spec.network.addressOf(spec.name)}:6222"
  routes: [${others.map((site) => `"nats://${spec.network.addressOf(site)}:6222"`).join(', ')}]
  ping_interval: "1s"
  ping_max: 2
  write_deadline: "2s"
  write_timeout: close
}
`,
  );
  const natsServer = findNatsServer();
  if (natsServer === undefined)
    throw new LabRefusal(
      'lab-needs-program',
      'nats-server is not there: run `npm run test:unit` once, which builds it.',
    );
  spawnLogged(spec, folder, [natsServer, '-c', file]);
}

/** BIRD, or ExaBGP, with the files of the examples, and longhaul-announce. */
async function startRouting(spec: AnycastSiteSpec, folder: string): Promise<Pick<AnycastSite, 'announce'>> {
  const { cable, engine, as } = SITES[spec.name];
  const [atRouter, atSite] = cable;
  const url = `https://127.0.0.1/healthz/anycast`;
  if (engine === 'exabgp') {
    const script = fillExample(folder, 'anycast/exabgp-route.sh', []);
    const config = fillExample(folder, 'anycast/exabgp.conf', [
      [
        '/opt/longhaul/node_modules/.bin/node /opt/longhaul/node_modules/.bin/longhaul-announce',
        `${process.execPath} ${ANNOUNCE}`,
      ],
      ['/etc/longhaul/exabgp-route.sh', script],
    ]);
    return { announce: () => spawnLogged(spec, folder, [requireProgram('exabgp'), config]) };
  }
  const socket = await startBird({
    network: spec.network,
    site: spec.name,
    example: 'anycast/bird-site.conf',
    values: [
      ['198.51.100.2', atSite],
      ['198.51.100.1 ', `${atRouter} `],
      ['as 65001', `as ${as}`],
    ],
    bfdMs: spec.bfdMs,
  });
  const script = fillExample(folder, 'anycast/bird-route.sh', [['/run/bird/bird.ctl', socket]]);
  const command = [process.execPath, ANNOUNCE, '--url', url, '--run', script];
  return { announce: () => spawnLogged(spec, folder, command) };
}

/** Brings up a site as docs/operators.md tells: nats-server, master, depot, and what announces the masters' address. */
export async function startAnycastSite(spec: AnycastSiteSpec): Promise<AnycastSite> {
  const { name, network, certificates, originAddress, secret } = spec;
  const folder = join(network.folder, name);
  const masterState = join(folder, 'master-state');
  mkdirSync(masterState, { recursive: true, mode: 0o700 });
  writeFileSync(join(masterState, 'enrolment-secret'), `${secret}\n`, { mode: 0o600 });
  startNats(spec, folder);
  const { launchAt } = inNetwork(network, () => name);
  const tls = { certFile: certificates.certFile, keyFile: certificates.keyFile };
  const addresses = {
    allow: [{ network: `${originAddress}/32`, ports: Object.values(ORIGIN_PORTS) }],
    overlayNetworks: SITE_NAMES.map((site) => `${network.addressOf(site)}/32`),
  };
  const names = { [MASTERS_NAME]: [MASTERS_ADDRESS] };
  const everywhere = { metricsNetworks: ['0.0.0.0/0'], stateDir: masterState, tls, addresses, names };
  const ends = [
    { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
    ...SITE_NAMES.flatMap((site, index) => [
      { between: ['client', site], rttMs: 1 + index, lossRate: 0, rateBps: 1e9 },
      { between: [site, 'origin'], rttMs: 1, lossRate: 0, rateBps: 1e9 },
    ]),
  ];
  const launchMaster = () =>
    startService(
      'master',
      folder,
      'master',
      {
        ...everywhere,
        listen: { host: '0.0.0.0', port: 443 },
        publicUrl: `https://${MASTERS_NAME}`,
        origins: Object.values(ORIGIN_PORTS).map((port) => `${originAddress}:${port}`),
        depots: { heartbeatSeconds: 1 },
        planner: { allowVia: true, explore: { share: 0 } },
        links: ends.map((link) => ({ ...link, fixed: true })),
        timeouts: { drainSeconds: DRAIN_SECONDS },
        bus: { site: name, servers: ['nats://127.0.0.1:4222'] },
        note: name,
      },
      launchAt('master'),
    );
  let master = await launchMaster();
  const { announce } = await startRouting(spec, folder);
  const depot = await startService(
    'depot',
    folder,
    'depot',
    {
      ...everywhere,
      stateDir: join(folder, 'depot-state'),
      id: name,
      listen: { host: network.addressOf(name), port: DEPOT_PORT },
      master: {
        url: `https://${MASTERS_NAME}`,
        enrolmentSecretFile: join(masterState, 'enrolment-secret'),
        heartbeatSeconds: 1,
      },
      trustedCaFiles: [certificates.caFile],
    },
    launchAt('depot'),
  );
  return {
    name,
    address: network.addressOf(name),
    master: () => master,
    restartMaster: async () => {
      master = await launchMaster();
    },
    announce,
    depot,
  };
}

/** Whether a process has not ended yet. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
