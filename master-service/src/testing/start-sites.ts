import { readFileSync } from 'node:fs';
import { CutProxy } from './cut-proxy.ts';
import { startMaster, TestClock, type TestMaster } from './start-master.ts';
import { startNatsServer, type TestNatsServer } from './start-nats-server.ts';

/** What the shipped configuration says of cuts between servers. */
function shippedClusterKeys(): string {
  const file = new URL('../../../docs/examples/nats/nats-server.conf', import.meta.url);
  const [, cluster = ''] = /^cluster \{\n([^]*?)^\}/m.exec(readFileSync(file, 'utf8')) ?? [];
  const keys = cluster.match(/^ {2}(ping_|write_).*$/gm) ?? [];
  if (keys.length < 4) throw new Error('the shipped configuration has no keys for cuts');
  return keys.join('\n');
}

/** A clock that goes. */
export class GoingClock extends TestClock {
  constructor() {
    super();
    Object.defineProperty(this, 'nowMs', { get: () => Date.now() });
  }
}

export interface TestSites {
  readonly servers: readonly TestNatsServer[];
  /** Starts the master of a site, by its number. */
  startMaster(site: number, config?: object): Promise<TestMaster>;
  /** Breaks the way between the servers of two sites without a word; `heal` makes it whole. */
  cut(one: number, other: number): void;
  heal(): void;
  close(): Promise<void>;
}

/** Some sites, each with a nats-server that is connected with each other one over a way that can be cut. */
export async function startSites(count: number): Promise<TestSites> {
  const servers: TestNatsServer[] = [];
  const ways = new Map<string, CutProxy>();
  const open: { close: () => Promise<unknown> }[] = [];
  for (let site = 0; site < count; site += 1) {
    const routes: string[] = [];
    for (const [other, server] of servers.entries()) {
      const way = await CutProxy.open(() => server.clusterPort);
      ways.set(`${other}-${site}`, way);
      open.push(way);
      routes.push(`"nats://127.0.0.1:${way.port}"`);
    }
    const server = await startNatsServer({
      config: `server_name: site-${site}`,
      // What servers tell each other of further ones leads nowhere: they have the ways of this test only.
      cluster: `name: longhaul\nadvertise: "127.0.0.1:9"\nroutes: [${routes.join(', ')}]\n${shippedClusterKeys()}`,
    });
    servers.push(server);
    open.push(server);
  }
  return {
    servers,
    startMaster: async (site, config = {}) => {
      const bus = { site: `s${site}`, servers: [servers[site]?.url ?? ''] };
      const master = await startMaster({ config: { bus, ...config }, clock: new GoingClock() });
      open.push(master.master);
      return master;
    },
    cut: (one, other) => ways.get(`${Math.min(one, other)}-${Math.max(one, other)}`)?.cut(),
    heal: () => {
      for (const way of ways.values()) way.heal();
    },
    close: async () => {
      for (const each of open.toReversed()) await each.close();
    },
  };
}
