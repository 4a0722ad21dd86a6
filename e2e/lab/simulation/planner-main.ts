/** The master of a simulated world, in a process of its own: its planner and what it learns by, without its ports. */
import {
  ClientTable,
  EndLinks,
  LinkTable,
  OriginProbes,
  OriginTable,
  Planner,
  readMasterConfig,
} from '@longhaul/master-service/parts';
import type { PlannerAnswer, PlannerOrder, TypedLink } from './planner-port.ts';

type LinkEstimate = ReturnType<LinkTable['estimate']>;

/** Nothing that a configuration must have matters here. */
const { planner: config } = readMasterConfig({
  listen: { host: '127.0.0.1', port: 0 },
  stateDir: 'unused',
  origins: ['*.example'],
});
const { windowBytes } = config.assumptions;

/** The links between depots, with those of the download that is planned. */
class WorldLinks extends LinkTable {
  #ends: LinkTable;

  constructor(links: readonly TypedLink[]) {
    super(configured(links), windowBytes);
    this.#ends = new LinkTable([], windowBytes);
  }

  setEnds(links: readonly TypedLink[]): void {
    this.#ends = new LinkTable(configured(links), windowBytes);
  }

  override estimate(one: string, other: string, nowMs: number): LinkEstimate {
    return this.#ends.estimate(one, other, nowMs) ?? super.estimate(one, other, nowMs);
  }

  override linkedWith(end: 'client' | 'origin'): ReadonlySet<string> {
    return new Set([...super.linkedWith(end), ...this.#ends.linkedWith(end)]);
  }
}

let links = new WorldLinks([]);
const clients = new ClientTable();
const origins = new OriginTable();
let probes = new OriginProbes({ origins, links });
let planner = plannerOver(links);
let depots: { readonly id: string; readonly tls: true; readonly state: 'up' }[] = [];

process.on('message', (order: PlannerOrder) => {
  const answer = obey(order);
  if (answer) process.send?.(answer);
});
process.on('disconnect', () => process.exit(0));

function obey(order: PlannerOrder): PlannerAnswer | undefined {
  switch (order.type) {
    case 'begin':
      depots = Array.from({ length: order.depots }, (_, number) => ({
        id: `d${number}`,
        tls: true,
        state: 'up',
      }));
      take(order.links);
      return { type: 'ready' };
    case 'links':
      take(order.links);
      return undefined;
    case 'report':
      links.report(order.from, order.report, order.nowMs);
      return undefined;
    case 'ends-report':
      for (const report of order.clients) clients.report(order.from, report, order.nowMs);
      for (const report of order.origins) origins.report(order.from, report, order.nowMs);
      return undefined;
    case 'plan':
      return plan(order);
    case 'usage': {
      const { user, system } = process.cpuUsage();
      return { type: 'usage', residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 };
    }
  }
}

function take(known: readonly TypedLink[]): void {
  links = new WorldLinks(known);
  probes = new OriginProbes({ origins, links });
  planner = plannerOver(links);
}

function plannerOver(known: LinkTable): Planner {
  return new Planner(config, known, new EndLinks({ links: known, clients, origins, windowBytes }));
}

function plan({ sizeBytes, nowMs, ends, who }: Extract<PlannerOrder, { type: 'plan' }>): PlannerAnswer {
  links.setEnds(ends);
  const startedMs = performance.now();
  const planned = planner.plan({ sizeBytes, originTls: true, ...(who ? { ends: who } : {}) }, depots, nowMs);
  const planMs = performance.now() - startedMs;
  if (!planned.ok) throw planned.error;
  const { chain, lanes, prediction } = planned.value;
  const told = who ? probesOf(who, nowMs) : [];
  return {
    type: 'planned',
    chain: [...chain],
    lanes,
    predictedSeconds: prediction.seconds,
    planMs,
    probes: told,
  };
}

/** All depots are heard once, in another order each time. */
function probesOf({ client, origin }: { readonly client: string; readonly origin: string }, nowMs: number) {
  probes.want({ host: origin, port: 443 }, client, nowMs);
  const first = Math.floor(nowMs / 1000) % Math.max(1, depots.length);
  const inTurn = [...depots.slice(first), ...depots.slice(0, first)];
  return inTurn.flatMap(({ id }) => (probes.next(id, depots, nowMs)?.host === origin ? [id] : []));
}

function configured(typed: readonly TypedLink[]) {
  return typed.map(({ between: [one, other], ...figures }) => {
    return { between: [one, other] as [string, string], fixed: false, ...figures };
  });
}
