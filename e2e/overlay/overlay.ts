import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ServiceProcess, startService } from './service-process.ts';

/** How often a master is asked whether its depots are up. */
const STATUS_INTERVAL_MS = 100;

/** An estimate for the link between two ends: depot ids, `client` or `origin`. */
export interface LinkSpec {
  readonly between: readonly [string, string];
  readonly rttMs: number;
  readonly lossRate: number;
  readonly rateBps: number;
}

export interface DepotSpec {
  readonly id: string;
  /** Name under which others reach it; the listening address where it is left out. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
}

export interface OverlaySpec {
  /** Folder for configurations, logs and state. */
  readonly dir: string;
  readonly depots: readonly DepotSpec[];
  readonly links: readonly LinkSpec[];
  /** Loopback address on which everything listens. */
  readonly listenHost: '127.0.0.1' | '::1';
  readonly masterHost?: string;
  readonly masterPort?: number;
  /** Origins that may be downloaded from, `host:port`. */
  readonly origins: readonly string[];
  /** Ports that origins on loopback may have. */
  readonly originPorts: readonly number[];
  /** Static names, for depots. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Certificate and key for all listeners, and the authority behind them. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly caFile: string };
  readonly note?: string;
}

export interface Overlay {
  readonly master: ServiceProcess;
  readonly depot: (id: string) => ServiceProcess;
  readonly depots: readonly ServiceProcess[];
  /** A depot's counter, summed over its labels that match `labels`. */
  readonly metric: (id: string, name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  /** Starts the master, or a depot, again after it was killed. */
  readonly restartMaster: () => Promise<void>;
  readonly restartDepot: (id: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Brings up one master and its depots as processes of their own, all on loopback. */
export async function startOverlay(spec: OverlaySpec): Promise<Overlay> {
  const masterState = join(spec.dir, 'master');
  const tls = spec.tls && { certFile: spec.tls.certFile, keyFile: spec.tls.keyFile };
  const loopback = spec.listenHost === '::1' ? '::1/128' : '127.0.0.0/8';
  const addresses = { allow: [{ network: loopback, ports: spec.originPorts }] };
  let masterPort = spec.masterPort ?? 0;

  const launchMaster = () =>
    startService('master', spec.dir, 'master', {
      listen: { host: spec.listenHost, port: masterPort },
      ...(tls ? { tls } : {}),
      ...(spec.masterHost
        ? { publicUrl: `${tls ? 'https' : 'http'}://${spec.masterHost}:${masterPort}` }
        : {}),
      stateDir: masterState,
      origins: spec.origins,
      addresses,
      depots: { heartbeatSeconds: 1 },
      links: spec.links.map((link) => ({ ...link, fixed: true })),
      ...(spec.note ? { note: spec.note } : {}),
    });
  const launchDepot = (depot: DepotSpec, masterUrl: string) =>
    startService('depot', spec.dir, depot.id, {
      id: depot.id,
      listen: { host: spec.listenHost, port: depot.port ?? 0 },
      ...(depot.host ? { public: { host: depot.host } } : {}),
      ...(tls ? { tls } : {}),
      stateDir: join(spec.dir, depot.id),
      master: {
        url: masterUrl,
        enrolmentSecretFile: join(masterState, 'enrolment-secret'),
        heartbeatSeconds: 1,
      },
      trustedCaFiles: spec.tls ? [spec.tls.caFile] : [],
      addresses,
      names: spec.names ?? {},
    });

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
  // A master that has just started plans directly until its depots have been heard of.
  const depotsUp = async () => {
    for (;;) {
      const status = await getText(spec, master, '/v1/status');
      if (status.split('"state":"up"').length > spec.depots.length) return;
      await delay(STATUS_INTERVAL_MS);
    }
  };
  return {
    get master() {
      return master;
    },
    depot,
    depots,
    metric: async (id, name, labels = {}) =>
      sumMetric(await getText(spec, depot(id), '/metrics'), name, labels),
    restartMaster: async () => {
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

function fail(message: string): never {
  throw new Error(message);
}

/** Asks a service for a page of its own, over loopback. */
async function getText(spec: OverlaySpec, service: ServiceProcess, path: string): Promise<string> {
  const { request } = spec.tls ? await import('node:https') : await import('node:http');
  const { port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    // Only over loopback and only about itself: whose certificate it is does not matter here.
    const asked = request({ host: spec.listenHost, port, path, rejectUnauthorized: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.once('end', () => resolve(text));
    });
    asked.once('error', reject).end();
  });
}

function sumMetric(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
