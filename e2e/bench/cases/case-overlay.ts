import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  formatOriginRelayTarget,
  hashAuthority,
  hashOriginUrl,
  issueTicket,
  parseOriginUrl,
} from '@longhaul/shared';
import { parseKeyPair, sha256 } from '@longhaul/shared/service';
import { inNetwork } from '../../lab/hosts/network-placement.ts';
import { startOverlay } from '../../overlay/overlay.ts';
import { onCore, RELAY_CORE, SITE, TRAFFIC_CORE } from '../relays/relay.ts';
import type { CaseCertificate, CaseStage } from './bench-case.ts';
import { STEADY_PORT } from './open-case-stage.ts';

/** A depot's own limits are meant for many clients; here one asks for everything. */
const MOST_FLOWS = 8000;
const LIFE_SECONDS = 86_400;
/** Far more than a case takes. */
const BUDGET_BYTES = 1e15;
const BUDGET_CONNECTIONS = 1e9;
/** Overlays that live at once have ports of their own. */
const FIRST_PORT = 9200;
/** It leaves one connection a seventh of what the ticket promises. */
const LOSS_RATE = 0.01;

let nextPort = FIRST_PORT;

/** One download through the overlay. */
export interface Asked {
  /** The entry depot first. */
  readonly chain: readonly string[];
  /** Default 1. */
  readonly lanes?: number;
  /** The origin's path. */
  readonly path: string;
  /** Whether the origin is asked by TLS. Default false. */
  readonly isSecure?: boolean;
  /** Of the origin; default that of its scheme. */
  readonly port?: number;
}

/** A master and some depots, for one case. */
export interface CaseOverlay {
  readonly pidOf: (depot: string) => number;
  readonly urlOf: (depot: string) => string;
  /** The address of a download at its entry depot, with a new ticket and a job of its own. */
  readonly address: (asked: Asked) => string;
  readonly stop: () => Promise<void>;
}

export interface CaseOverlaySpec {
  readonly depots: readonly {
    readonly id: string;
    /** `relay`: the first one; `traffic`: that of source and sink; `all`: not pinned. */
    readonly cores: 'relay' | 'traffic' | 'all';
  }[];
  /** For TLS on all listeners; left out: none has it. */
  readonly certificate?: CaseCertificate;
  /** Further keys of every depot's configuration. */
  readonly depotConfig?: object;
}

/** Starts depots as they come, but for their limits and for the congestion control, which is everybody's here. */
export async function startCaseOverlay(stage: CaseStage, spec: CaseOverlaySpec): Promise<CaseOverlay> {
  const { network, host, origin, certificates } = stage;
  const masterPort = nextPort;
  nextPort += 1 + spec.depots.length;
  const dir = join(network.folder, `case-${masterPort}`);
  const inside = inNetwork(network, () => SITE);
  const coresOf = (service: string) => spec.depots.find(({ id }) => id === service)?.cores ?? 'traffic';
  const pinned = (service: string, command: readonly [string, ...string[]]): [string, ...string[]] => {
    const cores = coresOf(service);
    const [program = '', ...args] =
      cores === 'all' ? command : onCore(cores === 'relay' ? RELAY_CORE : TRAFFIC_CORE, command);
    return [program, ...args];
  };
  const ports = [origin.httpPort, origin.httpsPort, STEADY_PORT];
  const overlay = await startOverlay({
    dir,
    placement: {
      ...inside,
      launchAt: (service) => (command, cwd) =>
        inside.launchAt(service)(pinned(service, [command[0] ?? '', ...command.slice(1)]), cwd),
    },
    depots: spec.depots.map(({ id }, index) => ({ id, port: masterPort + 1 + index })),
    masterPort,
    links: [],
    origins: ports.map((port) => `${host}:${port}`),
    originNetwork: `${host}/32`,
    originPorts: ports,
    ...(spec.certificate ? { tls: spec.certificate } : {}),
    depotConfig: {
      trustedCaFiles: [certificates.ecdsa.caFile],
      metricsNetworks: ['0.0.0.0/0'],
      sockets: {
        client: { congestionControl: 'system' },
        depot: { congestionControl: 'system' },
        origin: { congestionControl: 'system' },
      },
      limits: {
        transfers: MOST_FLOWS,
        perJob: MOST_FLOWS,
        perClient: MOST_FLOWS,
        perNetwork: MOST_FLOWS,
        perOrigin: MOST_FLOWS,
        connectionsPerNetwork: MOST_FLOWS,
        waitingPerNetwork: MOST_FLOWS,
        // Handshakes alone are measured as well.
        unusedPerNetwork: 1_000_000,
      },
      ...spec.depotConfig,
    },
  });
  const { keys } = JSON.parse(
    await inside.getText('master', `${overlay.master.url}/.well-known/jwks.json`),
  ) as { readonly keys: readonly { readonly kid: string }[] };
  const keyFile = join(dir, 'master', 'signing-key.pem');
  const key = parseKeyPair(readFileSync(keyFile, 'utf8'), keyFile);
  let jobs = 0;
  const address = ({ chain, lanes = 1, path, isSecure = false, ...asked }: Asked) => {
    const port = asked.port ?? (isSecure ? origin.httpsPort : origin.httpPort);
    const url = parseOriginUrl(`${isSecure ? 'https' : 'http'}://${host}:${port}${path}`);
    if (!url.ok) throw url.error;
    const issuedAt = Math.floor(Date.now() / 1000);
    jobs += 1;
    const ticket = issueTicket(
      {
        jobId: `case-${jobs}`,
        kind: 'get',
        urlHash: hashOriginUrl(url.value, sha256),
        authorityHash: hashAuthority(host, port, sha256),
        chains: [chain],
        // Where losses hold each connection back all lanes are at work from the beginning.
        promises: [{ rateBps: 1e9, worstRttMs: 1, worstLossRate: lanes > 1 ? LOSS_RATE : 0 }],
        lanes,
        budgetBytes: BUDGET_BYTES,
        budgetConnections: BUDGET_CONNECTIONS,
        issuedAt,
        lastStart: issuedAt + LIFE_SECONDS,
        endOfLife: issuedAt + LIFE_SECONDS,
      },
      keys[0]?.kid ?? '',
      key.sign,
    );
    return overlay.depot(chain[0] ?? '').url + formatOriginRelayTarget(ticket, url.value);
  };
  return {
    pidOf: (depot) => overlay.depot(depot).pid,
    urlOf: (depot) => overlay.depot(depot).url,
    address,
    stop: overlay.stop,
  };
}
