/** The master of a simulated world, in a process of its own: its planner and what it learns by, without its ports. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  CALIBRATION_FACTS,
  Calibrations,
  CLIENT_FACTS,
  ClientTable,
  EndLinks,
  Facts,
  FactsFile,
  FEEDBACK_FACTS,
  FeedbackBook,
  LINK_FACTS,
  LinkTable,
  ORIGIN_FACTS,
  OriginProbes,
  OriginTable,
  Planner,
  PROBE_FACTS,
  readMasterConfig,
  WAY_FACTS,
  WayBook,
} from '@longhaul/master-service/parts';
import { clientPrefix, type EndName, type LegEstimate } from '@longhaul/shared';
import { openStateFolder } from '@longhaul/shared/service';
import type { Believed, Pair, PlannerAnswer, PlannerOrder, TypedLink } from './planner-port.ts';
import { depotId } from './sim-names.ts';

type Route = Extract<ReturnType<Planner['plan']>, { ok: true }>['value'];
type LinkEstimate = ReturnType<LinkTable['estimate']>;

/** Nothing that a configuration must have matters here. */
const { planner: config } = readMasterConfig({
  listen: { host: '127.0.0.1', port: 0 },
  stateDir: 'unused',
  origins: ['*.example'],
});
const { windowBytes } = config.assumptions;
const FACT_KINDS = [
  ...LINK_FACTS,
  ...CLIENT_FACTS,
  ...ORIGIN_FACTS,
  ...PROBE_FACTS,
  ...CALIBRATION_FACTS,
  ...WAY_FACTS,
  ...FEEDBACK_FACTS,
];

/** The links between depots, with those of the download that is planned. */
class WorldLinks extends LinkTable {
  #ends: LinkTable;

  constructor(links: readonly TypedLink[], facts?: Facts) {
    super(configured(links), windowBytes, facts);
    this.#ends = new LinkTable([], windowBytes);
  }

  setEnds(links: readonly TypedLink[]): void {
    this.#ends = new LinkTable(configured(links), windowBytes);
  }

  override estimate(one: string, other: string, nowMs: number): LinkEstimate {
    return this.#ends.estimate(one, other, nowMs) ?? super.estimate(one, other, nowMs);
  }

  override linkedWith(end: EndName): ReadonlySet<string> {
    return new Set([...super.linkedWith(end), ...this.#ends.linkedWith(end)]);
  }
}

/** What it has learned, and what outlives it; before it is told how its world begins there is nothing of that. */
let links = new WorldLinks([]);
let facts = new Facts({ kinds: FACT_KINDS });
let clients = new ClientTable();
let origins = new OriginTable();
let probes = new OriginProbes({ origins, links });
let calibrations = new Calibrations();
let ways = new WayBook();
let wishes = new FeedbackBook();
let planner = plannerOver(links);
let stateDir = '';
let file: FactsFile | undefined;
let depots: { readonly id: string; readonly tls: true; readonly state: 'up' }[] = [];

process.on('message', (order: PlannerOrder) => {
  void Promise.resolve(obey(order)).then((answer) => answer && process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));

function obey(order: PlannerOrder): PlannerAnswer | Promise<PlannerAnswer> | undefined {
  switch (order.type) {
    case 'begin':
      depots = Array.from({ length: order.depots }, (_, number) => ({
        id: depotId(number),
        tls: true,
        state: 'up',
      }));
      return begin(order);
    case 'save':
      return save(order.nowMs);
    case 'links':
      // What is told in place of all that was known is learned from nobody.
      links = new WorldLinks(order.links);
      probes = new OriginProbes({ facts, origins, links });
      planner = plannerOver(links);
      return undefined;
    case 'report':
      links.report(order.from, order.report, order.nowMs);
      return undefined;
    case 'ends-report':
      for (const report of order.clients) clients.report(order.from, report, order.nowMs);
      for (const report of order.origins) origins.report(order.from, report, order.nowMs);
      return undefined;
    case 'outcome':
      noteOutcome(order);
      return undefined;
    case 'complaint':
      complain(order);
      return undefined;
    case 'plan':
      return plan(order);
    case 'heard':
      return { type: 'probing', depots: probesOf(order.who, order.nowMs) };
    case 'usage': {
      const { user, system } = process.cpuUsage();
      return { type: 'usage', residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 };
    }
  }
}

/** As a master starts: what it has kept is known again before it is ready. */
function begin({
  links: typed,
  stateDir: folder,
  nowMs,
}: Extract<PlannerOrder, { type: 'begin' }>): PlannerAnswer {
  stateDir = folder;
  file = new FactsFile(openStateFolder(folder));
  facts = new Facts({ kinds: FACT_KINDS, epoch: file.epochAfter(nowMs), startedAtMs: nowMs });
  links = new WorldLinks(typed, facts);
  clients = new ClientTable(facts, (depot) => links.mostSentBps(depot));
  origins = new OriginTable(facts);
  probes = new OriginProbes({ facts, origins, links });
  calibrations = new Calibrations(facts);
  ways = new WayBook(facts, (one, other) => links.areAtOneSite(one, other));
  wishes = new FeedbackBook(facts);
  planner = plannerOver(links);
  return { type: 'ready', ...file.restore(facts, nowMs) };
}

async function save(nowMs: number): Promise<PlannerAnswer> {
  // A master looks each second.
  facts.store.sweep(nowMs);
  const startedMs = performance.now();
  await file?.save(facts, nowMs);
  const seconds = (performance.now() - startedMs) / 1000;
  return { type: 'saved', bytes: statSync(join(stateDir, 'facts.jsonl')).size, seconds };
}

function plannerOver(known: LinkTable): Planner {
  return new Planner(config, known, new EndLinks({ links: known, clients, origins, windowBytes }));
}

function plan({
  sizeBytes,
  nowMs,
  ends,
  who,
  isExplained,
}: Extract<PlannerOrder, { type: 'plan' }>): PlannerAnswer {
  links.setEnds(ends);
  const startedMs = performance.now();
  const query = { sizeBytes, originTls: true, ...(who ? { ends: who, ...learnedOf(who, nowMs) } : {}) };
  const planned = planner.plan(query, depots, nowMs);
  const planMs = performance.now() - startedMs;
  if (!planned.ok) throw planned.error;
  const { chain, lanes, prediction } = planned.value;
  if (who) {
    // All of them come to this master, every few seconds.
    for (const { id } of depots) probes.next(id, depots, nowMs);
    probes.want({ host: who.origin, port: 443 }, who.client, nowMs);
  }
  return {
    type: 'planned',
    chain: [...chain],
    lanes,
    predictedSeconds: prediction.seconds,
    modelSeconds: prediction.seconds / (prediction.calibration ?? 1),
    planMs,
    ...(isExplained ? { believed: believedBy(planned.value) } : {}),
  };
}

function believedBy({ decisionReason, basis, prediction }: Route): Believed {
  const { legs, direct } = basis;
  return {
    reason: decisionReason,
    direct: { leg: direct.legs[0], source: direct.source },
    legs: prediction.legs.map(({ rttSource, goodputSource, measuredAgeMs }, at) => ({
      ...(legs[at] as LegEstimate),
      rttSource,
      goodputSource,
      ...(measuredAgeMs === undefined ? {} : { measuredAgeMs }),
    })),
  };
}

/** What a master goes by of this pair, beside all links. */
function learnedOf(who: Pair, nowMs: number) {
  const pair = pairOf(who);
  return {
    calibration: calibrations.factor(pair, nowMs),
    taken: ways.of(pair, nowMs),
    avoid: wishes.avoidedBy(pair.network, nowMs),
    isDirectPreferred: wishes.prefersDirect(pair.network, pair.host, nowMs),
  };
}

function noteOutcome({ who, download, nowMs }: Extract<PlannerOrder, { type: 'outcome' }>): void {
  const pair = pairOf(who);
  calibrations.note(pair, download.timesPlanned, nowMs);
  ways.note(pair, download, nowMs);
  wishes.noteWorked(pair.network, download.chain, pair.host, nowMs);
}

function complain({ who, depots: failed, nowMs }: Extract<PlannerOrder, { type: 'complaint' }>): void {
  const { network, host } = pairOf(who);
  wishes.judgeDirect(network, host, true, nowMs);
  for (const depot of failed) wishes.judgeDepot(network, depot, true, nowMs);
}

function pairOf({ client, origin }: Pair) {
  return { network: clientPrefix(client), host: origin };
}

/** All depots are heard once, in another order each time. */
function probesOf({ origin }: Pair, nowMs: number) {
  const first = Math.floor(nowMs / 1000) % Math.max(1, depots.length);
  const inTurn = [...depots.slice(first), ...depots.slice(0, first)];
  return inTurn.flatMap(({ id }) => (probes.next(id, depots, nowMs)?.host === origin ? [id] : []));
}

function configured(typed: readonly TypedLink[]) {
  return typed.map(({ between: [one, other], ...figures }) => {
    return { between: [one, other] as [string, string], fixed: false, ...figures };
  });
}
