import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Placement } from './placement.ts';
import { type ServiceProcess, startService } from './service-process.ts';

/** How often a master is asked whether its depots are up. */
const STATUS_INTERVAL_MS = 100;

/** Depots that a master has not heard of by then are not going to come up. */
const UP_TIMEOUT_MS = 30_000;

/** An estimate for the link between two ends: depot ids, `client` or `origin`. */
export interface LinkSpec {
  readonly between: readonly [string, string];
  readonly rttMs: number;
  readonly lossRate: number;
  readonly rateBps: number;
  readonly windowBytes?: number;
}

export interface DepotSpec {
  readonly id: string;
  /** Name under which others reach it; the listening address where it is left out. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Further keys of its configuration alone. */
  readonly config?: object;
}

export interface OverlaySpec {
  /** Folder for configurations, logs and state. */
  readonly dir: string;
  readonly placement: Placement;
  readonly depots: readonly DepotSpec[];
  readonly links: readonly LinkSpec[];
  readonly masterHost?: string;
  readonly masterPort?: number;
  /** Origins that may be downloaded from, `host:port`. */
  readonly origins: readonly string[];
  /** Addresses, and ports there, that origins may have although they are not public. */
  readonly originNetwork: string;
  readonly originPorts: readonly number[];
  /** Static names, for depots and the master. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Certificate and key for all listeners, and the authority behind them. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly caFile: string };
  readonly note?: string;
  /** Further keys of the master's and of every depot's configuration. */
  readonly masterConfig?: object;
  readonly depotConfig?: object;
}

/** What a master can be told anew when it starts again. */
export type MasterChange = Partial<Pick<OverlaySpec, 'links' | 'masterConfig'>>;

export interface Overlay {
  readonly master: ServiceProcess;
  readonly depot: (id: string) => ServiceProcess;
  readonly depots: readonly ServiceProcess[];
  /** A depot's counter, summed over its labels that match `labels`. */
  readonly metric: (id: string, name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  /** Starts the master, or a depot, again after it was ended; the master possibly with other estimates. */
  readonly restartMaster: (change?: MasterChange) => Promise<void>;
  readonly restartDepot: (id: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Brings up one master and its depots as processes of their own. */
export async function startOverlay(spec: OverlaySpec): Promise<Overlay> {
  const { placement } = spec;
  const masterState = join(spec.dir, 'master');
  const tls = spec.tls && { certFile: spec.tls.certFile, keyFile: spec.tls.keyFile };
  const trustedCaFiles = spec.tls ? [spec.tls.caFile] : [];
  const addresses = {
    allow: [{ network: spec.originNetwork, ports: spec.originPorts }],
    overlayNetworks: spec.depots.map(({ id }) => networkOf(placement.hostOf(id))),
  };
  let masterPort = spec.masterPort ?? 0;
  let told: MasterChange = {};

  const launchMaster = () => {
    const { links, masterConfig } = { ...spec, ...told };
    const config = {
      listen: { host: placement.hostOf('master'), port: masterPort },
      ...(tls ? { tls } : {}),
      trustedCaFiles,
      ...(spec.masterHost
        ? { publicUrl: `${tls ? 'https' : 'http'}://${spec.masterHost}:${masterPort}` }
        : {}),
      stateDir: masterState,
      origins: spec.origins,
      addresses,
      names: spec.names ?? {},
      depots: { heartbeatSeconds: 1 },
      links: links.map((link) => ({ ...link, fixed: true })),
      ...(spec.note ? { note: spec.note } : {}),
      ...masterConfig,
    };
    return startService('master', spec.dir, 'master', config, placement.launchAt('master'));
  };
  const launchDepot = (depot: DepotSpec, masterUrl: string) => {
    const config = {
      id: depot.id,
      listen: { host: placement.hostOf(depot.id), port: depot.port ?? 0 },
      ...(depot.host ? { public: { host: depot.host } } : {}),
      ...(tls ? { tls } : {}),
      stateDir: join(spec.dir, depot.id),
      master: {
        url: masterUrl,
        enrolmentSecretFile: join(masterState, 'enrolment-secret'),
        heartbeatSeconds: 1,
      },
      trustedCaFiles,
      addresses,
      names: spec.names ?? {},
      ...spec.depotConfig,
      ...depot.config,
    };
    return startService('depot', spec.dir, depot.id, config, placement.launchAt(depot.id));
  };

  let master = await launchMaster();
  // A master that comes back is found where it was.
  masterPort = Number(new URL(master.url).port);
  const started = await Promise.allSettled(spec.depots.map((depot) => launchDepot(depot, master.url)));
  const depots = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async () => {
    await Promise.all([...depots, master].map((service) => service.stop()));
  };
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }

  const indexOf = (id: string) => spec.depots.findIndex((entry) => entry.id === id);
  const depotSpec = (index: number) => spec.depots[index] ?? fail(`the overlay has no depot ${index}`);
  const depot = (id: string) => depots[indexOf(id)] ?? fail(`the overlay has no depot ${id}`);
  // A master plans directly until its depots have been heard of and have proved where they are.
  const depotsUp = async () => {
    const deadlineMs = performance.now() + UP_TIMEOUT_MS;
    for (;;) {
      const up = upDepots(await placement.getText('master', `${master.url}/v1/status`));
      const missing = spec.depots.filter(({ id }) => !up.has(id)).map(({ id }) => id);
      if (missing.length === 0) return;
      if (performance.now() > deadlineMs)
        throw new Error(`not up after ${UP_TIMEOUT_MS / 1000} s: ${missing.join(', ')}`);
      await delay(STATUS_INTERVAL_MS);
    }
  };
  await depotsUp().catch(async (failure: unknown) => {
    await stop();
    throw failure;
  });
  return {
    get master() {
      return master;
    },
    depot,
    depots,
    metric: async (id, name, labels = {}) =>
      sumMetric(await placement.getText(id, `${depot(id).url}/metrics`), name, labels),
    restartMaster: async (change = {}) => {
      told = { ...told, ...change };
      master = await launchMaster();
      await depotsUp();
    },
    restartDepot: async (id) => {
      const index = indexOf(id);
      const port = Number(new URL(depot(id).url).port);
      depots[index] = await launchDepot({ ...depotSpec(index), port }, master.url);
      await depotsUp();
    },
    stop,
  };
}

function networkOf(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/** Ids in a master's status; none while it does not answer, or not to the end. */
function upDepots(status: string): Set<string> {
  try {
    const { depots } = JSON.parse(status) as { depots: readonly { id: string; state: string }[] };
    return new Set(depots.filter(({ state }) => state === 'up').map(({ id }) => id));
  } catch {
    return new Set();
  }
}

function fail(message: string): never {
  throw new Error(message);
}

/** Adds up the samples of a metric that have these labels, in the text of `/metrics`. */
export function sumMetric(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
