import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChainPromise,
  formatOriginRelayTarget,
  hashAuthority,
  hashOriginUrl,
  parseOriginUrl,
  type TicketClaims,
} from '@longhaul/shared';
import { openStateFolder, sha256, type TlsMaterial } from '@longhaul/shared/service';
import { createDepot, type Depot } from '../app.ts';
import { readDepotConfig } from '../config.ts';
import type { DepotEvent } from '../plane/events.ts';
import type { SplicePlane } from '../relay/splice-plane.ts';
import { listen } from '../sockets/listener.ts';
import { standingConnections } from './standing-connections.ts';
import { closeServer, startTestMaster, type TestMaster } from './test-master.ts';
import { unstalledMs } from './unstalled-clock.ts';

export interface RunningDepot {
  readonly id: string;
  readonly url: string;
  readonly events: DepotEvent[];
  readonly depot: Depot;
}

/** Real depots, a real origin and a master's protocol half, all on port 0 of loopback. */
export interface TestOverlay {
  readonly master: TestMaster;
  /** `http://127.0.0.1:<port>` of the origin. */
  readonly originUrl: string;
  /** Requests that reached the origin. */
  readonly originRequests: IncomingMessage[];
  /** Connections that reached the origin, and those of them that are open. */
  readonly originConnections: () => number;
  readonly originOpenConnections: () => Promise<number>;
  readonly depot: (id: string) => RunningDepot;
  readonly addDepot: (id: string, config?: object) => Promise<RunningDepot>;
  /** The address at `entry` that fetches `url` by a fresh ticket, whose claims may be overridden. */
  readonly relayUrl: (url: string, claims?: Partial<TicketClaims>, entry?: string) => string;
  readonly ticket: (url: string, claims?: Partial<TicketClaims>) => string;
  /** Moves the depots' clocks. */
  readonly advanceSeconds: (seconds: number) => void;
  readonly nowSeconds: () => number;
  readonly close: () => Promise<void>;
}

export async function startTestOverlay(
  ids: readonly string[],
  origin: RequestListener,
  splice?: SplicePlane,
  init: {
    readonly config?: object;
    readonly tls?: TlsMaterial;
    readonly trusted?: readonly string[];
    readonly unreadTimeoutMs?: number;
    readonly standingPatienceMs?: number;
    readonly breakOffMs?: number;
  } = {},
): Promise<TestOverlay> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-depot-'));
  const master = await startTestMaster();
  const originRequests: IncomingMessage[] = [];
  let connections = 0;
  const originServer = createServer((request, response) => {
    originRequests.push(request);
    origin(request, response);
  });
  originServer.on('connection', () => {
    connections += 1;
  });
  const { port: originPort } = await listen(originServer, '127.0.0.1', 0);
  const depots = new Map<string, RunningDepot>();
  let skewMs = 0;
  // Both clocks of a depot go alike: when it has begun is the difference of one from the other.
  const beganAtMs = Date.now() - unstalledMs();
  const nowMs = () => Math.floor(beganAtMs + unstalledMs()) + skewMs;
  const nowSeconds = () => Math.floor(nowMs() / 1000);

  const overlay: TestOverlay = {
    master,
    originUrl: `http://127.0.0.1:${originPort}`,
    originRequests,
    originConnections: () => connections,
    originOpenConnections: async () =>
      standingConnections(originPort) ??
      new Promise((resolve, reject) => {
        originServer.getConnections((error, open) => (error ? reject(error) : resolve(open)));
      }),
    depot: (id) => {
      const running = depots.get(id);
      if (!running) throw new Error(`no depot ${id}`);
      return running;
    },
    addDepot: async (id, config = {}) => {
      const {
        addresses = {},
        limits = {},
        ...others
      } = { ...init.config, ...config } as {
        addresses?: object;
        limits?: object;
      };
      const events: DepotEvent[] = [];
      const depot = createDepot({
        config: readDepotConfig({
          id,
          listen: { host: '127.0.0.1', port: 0 },
          stateDir: join(folder, id),
          master: { url: master.url, enrolmentSecretFile: 'unused', heartbeatSeconds: 3600 },
          addresses: {
            allow: [{ network: '127.0.0.0/8', ports: [originPort] }],
            overlayNetworks: ['127.0.0.0/8'],
            ...addresses,
          },
          // A bound that is met at once.
          limits: { tunnelsPerJob: 1, ...limits },
          // What is measured is what a test does.
          measuring: { bytesPerHour: 0 },
          ...others,
        }),
        state: openStateFolder(join(folder, id)),
        enrolmentSecret: master.secret,
        tls: init.tls,
        trustedAuthorities: [...(init.tls ? [init.tls.cert] : []), ...(init.trusted ?? [])],
        splice,
        observe: (event) => events.push(event),
        nowMs,
        steadyMs: () => unstalledMs() + skewMs,
        unreadTimeoutMs: init.unreadTimeoutMs,
        standingPatienceMs: init.standingPatienceMs,
        breakOffMs: init.breakOffMs,
      });
      const running = { id, url: (await depot.listen()).url, events, depot };
      depots.set(id, running);
      return running;
    },
    ticket: (url, claims = {}) => {
      const parsed = parseOriginUrl(url);
      if (!parsed.ok) throw parsed.error;
      const issuedAt = nowSeconds();
      return master.issue({
        jobId: `job${Math.random().toString(36).slice(2, 10)}`,
        kind: 'get',
        urlHash: hashOriginUrl(parsed.value, sha256),
        authorityHash: hashAuthority(parsed.value.host, parsed.value.port, sha256),
        chains: [ids],
        promises: (claims.chains ?? [ids]).map(() => promiseWith(claims.lanes ?? 1)),
        lanes: 1,
        budgetBytes: 1e12,
        budgetConnections: 1000,
        issuedAt,
        lastStart: issuedAt + 600,
        endOfLife: issuedAt + 86_400,
        ...claims,
      });
    },
    relayUrl: (url, claims = {}, entry = ids[0] ?? '') => {
      const parsed = parseOriginUrl(url);
      if (!parsed.ok) throw parsed.error;
      return overlay.depot(entry).url + formatOriginRelayTarget(overlay.ticket(url, claims), parsed.value);
    },
    advanceSeconds: (seconds) => {
      skewMs += seconds * 1000;
    },
    nowSeconds,
    close: async () => {
      await Promise.all([...depots.values()].map((running) => running.depot.close(0)));
      await Promise.all([closeServer(originServer), master.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  // The last depot registers first, so that each one knows all that it may have to dial.
  for (const id of ids.toReversed()) await overlay.addDepot(id);
  return overlay;
}

/** Where a plan has lanes, losses hold back each of them: otherwise the first one would begin alone. */
function promiseWith(lanes: number): ChainPromise {
  const rateBps = 1e8;
  return lanes > 1
    ? { rateBps, worstRttMs: 20, worstLossRate: 2.5e-3 }
    : { rateBps, worstRttMs: 1, worstLossRate: 0 };
}
