import type { ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Launch, type ServiceProcess, startService } from '../../overlay/service-process.ts';
import type { Network } from '../network/network.ts';
import type { SiteBus } from '../sites/site-bus.ts';
import { DEPOTS, type SiteName } from './masters-network.ts';

export const MASTER_PORT = 8000;
const DEPOT_PORT = 8080;
export const ORIGIN_PORT = 80;
const CLOCK = join(import.meta.dirname, 'settable-clock.ts');

export interface OverlaySpec {
  readonly network: Network;
  readonly bus: SiteBus;
  /** Makes names known to a command. */
  readonly named: (command: readonly string[]) => readonly string[];
  /** Of the one overlay: all masters have it. */
  readonly secret: string;
}

/** A master of a site that is there, or that was killed. */
export interface SiteMaster {
  readonly site: SiteName;
  readonly url: string;
  readonly kill: () => Promise<void>;
  /** Starts it again after it was killed, with what it had written down. */
  readonly start: () => Promise<void>;
  /** Sets the clock that it reads so far ahead of the machine's. */
  readonly setClock: (aheadMs: number) => void;
}

/** Starts the master of a site. */
export async function startSiteMaster(spec: OverlaySpec, site: SiteName): Promise<SiteMaster> {
  let child: ChildProcess | undefined;
  const start = () =>
    startMaster(spec, site, { site }, (started) => {
      child = started;
    });
  let running = await start();
  return {
    site,
    url: running.url,
    kill: () => running.kill(),
    start: async () => {
      running = await start();
    },
    setClock: (aheadMs) => void child?.send({ aheadMs }),
  };
}

/** Starts a master at a site that speaks as somebody else, knows nothing, and has no depots of its own. */
export function startLateMaster(
  spec: OverlaySpec,
  site: SiteName,
  { name, port }: { readonly name: string; readonly port: number },
): Promise<ServiceProcess> {
  rmSync(join(spec.network.folder, name), { recursive: true, force: true });
  return startMaster(spec, site, { site: name, port }, () => {});
}

interface MasterSpec {
  /** Who it speaks as. */
  readonly site: string;
  readonly port?: number;
}

function startMaster(
  { network, bus, named, secret }: OverlaySpec,
  at: SiteName,
  { site, port = MASTER_PORT }: MasterSpec,
  onChild: (child: ChildProcess) => void,
): Promise<ServiceProcess> {
  const folder = join(network.folder, site);
  const stateDir = join(folder, 'state');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(join(stateDir, 'enrolment-secret'), `${secret}\n`, { mode: 0o600 });
  const launch: Launch = ([program, ...args], cwd) => {
    const command = named([program, '--import', CLOCK, ...args]);
    const child = network.spawn(at, command, ['ignore', 'ignore', 'pipe', 'ipc'], cwd);
    onChild(child);
    return child;
  };
  const originAddress = network.addressOf('origin');
  const ends = [
    { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
    ...DEPOTS.flatMap(({ id, site: of }) => [
      // Each master leads to its own depots first.
      { between: ['client', id], rttMs: of === at ? 1 : 5, lossRate: 0, rateBps: 1e9 },
      { between: [id, 'origin'], rttMs: 1, lossRate: 0, rateBps: 1e9 },
    ]),
  ];
  return startService(
    'master',
    folder,
    'master',
    {
      listen: { host: network.addressOf(at), port },
      publicUrl: `http://${network.addressOf(at)}:${port}`,
      stateDir,
      metricsNetworks: ['0.0.0.0/0'],
      origins: [`${originAddress}:${ORIGIN_PORT}`],
      addresses: addressesOf(network),
      depots: { heartbeatSeconds: 1 },
      planner: { allowVia: true, explore: { share: 0 } },
      links: ends.map((link) => ({ ...link, fixed: true })),
      bus: bus.configOf(at, site),
      note: site,
    },
    launch,
  );
}

/** Starts a depot that belongs to the master of its site. */
export function startSiteDepot(
  { network }: OverlaySpec,
  id: string,
  site: SiteName,
): Promise<ServiceProcess> {
  const folder = join(network.folder, site);
  return startService(
    'depot',
    folder,
    id,
    {
      id,
      listen: { host: network.addressOf(id), port: DEPOT_PORT },
      stateDir: join(folder, `${id}-state`),
      metricsNetworks: ['0.0.0.0/0'],
      addresses: addressesOf(network),
      master: {
        url: `http://${network.addressOf(site)}:${MASTER_PORT}`,
        enrolmentSecretFile: join(folder, 'state', 'enrolment-secret'),
        heartbeatSeconds: 1,
      },
    },
    (command, cwd) => network.spawn(id, command, ['ignore', 'ignore', 'pipe', 'ipc'], cwd),
  );
}

function addressesOf(network: Network): object {
  return {
    allow: [{ network: `${network.addressOf('origin')}/32`, ports: [ORIGIN_PORT] }],
    overlayNetworks: DEPOTS.map(({ id }) => `${network.addressOf(id)}/32`),
  };
}
