import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { masterOf } from '@longhaul/master-service/parts';
import type { LegEstimate, LinkReport, OriginReport } from '@longhaul/shared';
import { legGoodput, SEGMENT_BYTES } from '@longhaul/shared';
import type { LineFile } from '../results/result-file.ts';
import { mean, median, quantile } from '../results/statistics.ts';
import { drawDownloads } from './draw-downloads.ts';
import { Hashed } from './hashed.ts';
import { type Download, Oracle, trueLegs, trueSeconds, type Way } from './oracle.ts';
import type { Believed, TypedLink } from './planner-port.ts';
import {
  isTold,
  type Knowledge,
  ORIGIN_SENDS,
  type OriginSends,
  type Restart,
  type SimLine,
} from './sim-line.ts';
import { SimulatedMaster } from './simulated-master.ts';
import { type End, World, type WorldSize } from './world.ts';

export interface SimPlan extends WorldSize {
  readonly downloads: number;
  readonly hours: number;
  readonly seed: number;
  readonly knowledge: readonly Knowledge[];
  readonly restart: Restart;
}

interface SimRun {
  readonly plan: SimPlan;
  readonly file: LineFile<SimLine>;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
  /** Told of each decision, where somebody wants to know. */
  readonly onDecision?: ((decision: SimDecision) => void) | undefined;
}

/** One decision, with what was believed and what was true. */
export interface SimDecision {
  readonly knowledge: Knowledge;
  /** Of its knowledge, from 1 on. */
  readonly number: number;
  readonly hours: number;
  readonly client: number;
  readonly origin: number;
  readonly sizeBytes: number;
  readonly originSends: OriginSends;
  readonly regret: number;
  readonly predictedSeconds: number;
  readonly seconds: number;
  readonly directSeconds: number;
  readonly taken: Way;
  readonly best: Way & { readonly seconds: number };
  readonly believed: Believed | undefined;
  readonly trueDirect: LegEstimate | undefined;
  /** Of the way that was taken. */
  readonly trueLegs: readonly LegEstimate[];
}

/** Windows of a run: points of its charts. */
const WINDOWS = 20;

/** Of this process: folders of masters that live. */
const stateDirs = new Set<string>();
// Whatever ends the process without waiting, as an interruption does.
process.on('exit', () => {
  for (const dir of stateDirs) rmSync(dir, { recursive: true, force: true });
});

/** The master is ended once, before this window, where it is at all. */
export const RESTART_BEFORE = WINDOWS / 2;
/** Depots of an end whose links are known: those nearest to it. */
const NEAREST = 20;
/** Other depots that a depot's links are known to: near ones, and any. */
const NEIGHBOURS = { near: 8, any: 12 };
/**
 * Share of depots that report half the round trip, three times the goodput, no loss, and downloads in half
 * the time; and of client networks that complain of everything.
 */
const LYING = { depots: 0.1, prefixes: 0.01 };
/** Who is informed hears of the links between depots so often. */
const INFORMED_EVERY_MS = 3_600_000;
/**
 * Depots test the links between them so often, by about so many bytes: with all neighbours that one has,
 * about 20 MB an hour.
 */
const TESTED = { everyMs: 7_200_000, bytes: 1_000_000 };
/** What a connection that is opened and closed weighs. */
const PROBE_BYTES = 500;
/** How much one measurement scatters. */
const NOISE = 0.1;
/** Connections that lost so often show what losses leave to them, and not how they began. */
const WEARING_LOSSES = 10;
/** Anycast leads so many clients to the site that is nearest to them, and the others to one of the next ones. */
const CATCHMENT = { nearest: 0.8, next: 3 };
/** Routes to an anycast address stay for so long. */
const CATCHMENT_MS = 86_400_000;

/** One download as it went. */
interface Outcome {
  /** Its client lies of others: what becomes of it is its own matter. */
  readonly isLiars: boolean;
  readonly seconds: number;
  readonly bestSeconds: number;
  readonly directSeconds: number;
  readonly predictedSeconds: number;
  readonly planMs: number;
  readonly isChain: boolean;
  readonly isBestChain: boolean;
  readonly originSends: OriginSends;
  readonly sizeBytes: number;
}

/** What a run that goes on does not simulate again. */
export function finishedKnowledge(lines: readonly SimLine[]): ReadonlySet<Knowledge> {
  const byKnowledge = Map.groupBy(lines, ({ knowledge }) => knowledge);
  return new Set([...byKnowledge].flatMap(([knowledge, own]) => (own.length === WINDOWS ? [knowledge] : [])));
}

/** Lets the real planner plan the downloads of a drawn world, for one knowledge after the other. */
export async function runSim({ plan, file, say, signal, onDecision }: SimRun): Promise<void> {
  const world = new World(plan, plan.seed);
  const oracle = new Oracle(world);
  const finished = finishedKnowledge(file.lines);
  for (const knowledge of plan.knowledge) {
    if (finished.has(knowledge)) continue;
    const done = file.lines.filter((line) => line.knowledge === knowledge).length;
    if (done > 0) say(`${knowledge}: begins anew, because a master cannot go on in the middle`);
    const simulation = new Simulation({ world, oracle, plan, knowledge, onDecision });
    await simulation.run(signal, (line) => {
      if (line.window >= done) file.append(line);
      say(`${knowledge} ${line.window + 1} of ${WINDOWS}: ${told(line)}`);
    });
  }
}

function told(line: SimLine): string {
  if (!isTold(line)) return 'nobody downloaded who does not lie';
  const { mean: regret, p90 } = line.regret;
  return `regret ${(100 * regret).toFixed(1)} %, p90 ${(100 * p90).toFixed(1)} %, chains ${(100 * line.chainShare).toFixed(0)} % (best ${(100 * line.bestChainShare).toFixed(0)} %)`;
}

interface SimulationInit extends Pick<SimRun, 'plan' | 'onDecision'> {
  readonly world: World;
  readonly oracle: Oracle;
  readonly knowledge: Knowledge;
}

class Simulation {
  readonly #onDecision: SimRun['onDecision'];
  readonly #world: World;
  readonly #oracle: Oracle;
  readonly #plan: SimPlan;
  readonly #knowledge: Knowledge;
  readonly #depots: readonly End[];
  readonly #noise: Hashed;
  readonly #neighbours: readonly (readonly [End, End])[];
  /** What stands in the master's configuration. */
  readonly #typed: readonly TypedLink[];
  readonly #stateDir = mkdtempSync(join(tmpdir(), 'longhaul-sim-master-'));
  #informedUntilMs = 0;
  /** Tests of links so far. */
  #tested = 0;
  #measuringBytes = 0;

  constructor({ world, oracle, plan, knowledge, onDecision }: SimulationInit) {
    stateDirs.add(this.#stateDir);
    this.#onDecision = onDecision;
    this.#world = world;
    this.#oracle = oracle;
    this.#plan = plan;
    this.#knowledge = knowledge;
    this.#depots = Array.from({ length: plan.depots }, (_, number) => world.depot(number));
    this.#noise = new Hashed(plan.seed + 2);
    this.#neighbours = this.#drawNeighbours();
    this.#typed = knowledge === 'typed' || knowledge === 'reported' ? this.#depotLinks(0) : [];
  }

  async run(signal: AbortSignal, onLine: (line: SimLine) => void): Promise<void> {
    let { master } = await this.#startMaster(0);
    let cpuBefore = 0;
    let restart: SimLine['restart'];
    let outcomes: Outcome[] = [];
    let window = 0;
    const { downloads, hours } = this.#plan;
    try {
      let number = 0;
      for (const download of drawDownloads(this.#world, this.#plan)) {
        signal.throwIfAborted();
        const outcome = await this.#serve(master, download, number);
        if (!outcome.isLiars) outcomes.push(outcome);
        number += 1;
        if (number < Math.round(((window + 1) * downloads) / WINDOWS)) continue;
        const { residentBytes, cpuSeconds } = await master.usage();
        onLine({
          simulation: 'map',
          world: worldOf(this.#plan),
          knowledge: this.#knowledge,
          window,
          fromHours: (hours * window) / WINDOWS,
          toHours: (hours * (window + 1)) / WINDOWS,
          ...summary(outcomes),
          measuringBytes: this.#measuringBytes,
          residentBytes,
          cpuSeconds: cpuSeconds - cpuBefore,
          ...(restart ? { restart } : {}),
        });
        this.#measuringBytes = 0;
        [cpuBefore, restart, outcomes] = [cpuSeconds, undefined, []];
        window += 1;
        if (window !== RESTART_BEFORE || this.#plan.restart === 'none') continue;
        const { atMs } = download;
        const { bytes: fileBytes, seconds: saveSeconds } = await master.save(atMs);
        await master.stop();
        if (this.#plan.restart === 'forget') this.#forget();
        const startedMs = performance.now();
        const started = await this.#startMaster(atMs);
        const readySeconds = (performance.now() - startedMs) / 1000;
        const { facts, refused } = started;
        restart = { readySeconds, facts, refused, fileBytes, saveSeconds };
        master = started.master;
        // Who tells it of the links between depots does so again.
        this.#informedUntilMs = 0;
        cpuBefore = 0;
      }
    } finally {
      await master.stop();
      this.#forget();
      stateDirs.delete(this.#stateDir);
    }
  }

  #forget(): void {
    rmSync(this.#stateDir, { recursive: true, force: true });
  }

  #startMaster(nowMs: number) {
    const { depots } = this.#plan;
    return SimulatedMaster.start({
      type: 'begin',
      depots,
      links: this.#typed,
      stateDir: this.#stateDir,
      nowMs,
    });
  }

  async #serve(master: SimulatedMaster, download: Download, number: number): Promise<Outcome> {
    const { sizeBytes, atMs } = download;
    if (this.#knowledge === 'informed' && atMs >= this.#informedUntilMs) {
      master.tell({ type: 'links', links: this.#depotLinks(atMs) });
      this.#informedUntilMs = atMs + INFORMED_EVERY_MS;
    }
    if (this.#measures) {
      this.#testLinks(master, atMs);
      this.#seeClient(master, download, number);
    }
    const knownAtMs = this.#knowledge === 'informed' ? atMs : 0;
    const planned = await master.plan({
      type: 'plan',
      sizeBytes,
      nowMs: atMs,
      ...(this.#measures ? { who: whoOf(download) } : {}),
      isExplained: this.#onDecision !== undefined,
      ends: this.#measures || this.#knowledge === 'none' ? [] : this.#endLinks(download, knownAtMs),
    });
    const depots = planned.chain.map((id) => Number(id.slice(1)));
    const best = this.#oracle.best(download);
    const way = { depots, lanes: planned.lanes };
    const seconds = trueSeconds(this.#world, download, way);
    if (this.#measures || this.#knowledge === 'reported') this.#report(master, download, way, number);
    const isLiars = this.#isLyingClient(download.client);
    if (this.#measures) {
      this.#reportEnds(master, download, way, number);
      await this.#probe(master, download, number);
      if (depots.length > 0) this.#tellOutcome(master, download, { ...planned, seconds, depots }, number);
      if (isLiars)
        master.tell({ type: 'complaint', who: whoOf(download), depots: planned.chain, nowMs: atMs });
    }
    const originSends = download.origin.connectionBps === undefined ? download.origin.sender : 'held';
    const directSeconds = trueSeconds(this.#world, download, { depots: [], lanes: 1 });
    this.#onDecision?.({
      knowledge: this.#knowledge,
      number: number + 1,
      hours: atMs / 3_600_000,
      client: download.client.number,
      origin: download.origin.number,
      sizeBytes,
      originSends,
      regret: seconds / Math.min(seconds, best.seconds) - 1,
      predictedSeconds: planned.predictedSeconds,
      seconds,
      directSeconds,
      taken: way,
      best: { ...best.way, seconds: best.seconds },
      believed: planned.believed,
      trueDirect: trueLegs(this.#world, download, [])[0],
      trueLegs: trueLegs(this.#world, download, depots),
    });
    return {
      isLiars,
      seconds,
      // The planner may find what the oracle has not tried.
      bestSeconds: Math.min(seconds, best.seconds),
      directSeconds,
      predictedSeconds: planned.predictedSeconds,
      planMs: planned.planMs,
      isChain: depots.length > 0,
      isBestChain: best.way.depots.length > 0,
      originSends,
      sizeBytes,
    };
  }

  /**
   * Each site has a master and a depot; the master that is asked sees the round trip to the client, in its
   * own kernel.
   */
  #seeClient(master: SimulatedMaster, { client, atMs }: Download, number: number): void {
    const order = [client.number, Math.floor(atMs / CATCHMENT_MS)];
    const sites = this.#nearest(
      this.#depots,
      (depot) => this.#world.leg(client, depot, atMs),
      1 + CATCHMENT.next,
    );
    const isNearest = this.#noise.uniform(...order, 11) < CATCHMENT.nearest;
    const next = 1 + Math.floor(this.#noise.uniform(...order, 12) * (sites.length - 1));
    const site = sites[isNearest ? 0 : next] ?? sites[0];
    if (!site) return;
    const rttMs = site.leg.rttMs * this.#noise.logNormal(1, NOISE, number, site.end.number, 13);
    const clients = [{ prefix: prefixOf(client), rttMs }];
    const told = { type: 'ends-report', nowMs: atMs } as const;
    master.tell({ ...told, from: masterOf(`d${site.end.number}`), clients, origins: [] });
  }

  /**
   * What the depots of a chain tell of their connections to each other: who sends can tell. Lanes share a
   * leg; each is as fast as it would be alone, or has its part of the line.
   */
  #report(master: SimulatedMaster, download: Download, { depots, lanes }: Way, number: number): void {
    const legs = trueLegs(this.#world, download, depots);
    for (const [at, receiver] of depots.slice(0, -1).entries()) {
      const sender = depots[at + 1] ?? receiver;
      const leg = legs[at + 1];
      if (!leg) continue;
      const alone = this.#reportOf(leg, sender, receiver, number);
      const part = legGoodput(leg, lanes).goodputBps / legGoodput(leg).goodputBps / lanes;
      const { goodputBps = 0 } = alone;
      const report = { ...alone, goodputBps: part * goodputBps, totalBps: lanes * part * goodputBps };
      master.tell({
        type: 'report',
        from: `d${sender}`,
        report: lanes === 1 ? alone : report,
        nowMs: download.atMs,
      });
    }
  }

  /**
   * What depots find by tests of the links between them: one after the other, each after its time. All were
   * tested before the first download.
   */
  #testLinks(master: SimulatedMaster, atMs: number): void {
    const count = this.#neighbours.length;
    const until = count + Math.floor((atMs / TESTED.everyMs) * count);
    const from = Math.max(this.#tested, until - count);
    this.#tested = until;
    for (let at = from; at < until; at += 1) {
      const [one, two] = this.#neighbours[at % count] ?? [];
      if (!one || !two) continue;
      for (const [sender, receiver] of [
        [one, two],
        [two, one],
      ] as const) {
        const leg = this.#world.leg(receiver, sender, atMs);
        const report = this.#reportOf(leg, sender.number, receiver.number, Math.floor(atMs / 1000));
        master.tell({ type: 'report', from: `d${sender.number}`, report, nowMs: atMs });
        this.#measuringBytes += TESTED.bytes;
      }
    }
  }

  /** What the entry depot saw of the client, and the exit depot of the origin. */
  #reportEnds(
    master: SimulatedMaster,
    download: Download,
    { depots, lanes }: { readonly depots: readonly number[]; readonly lanes: number },
    number: number,
  ): void {
    const legs = trueLegs(this.#world, download, depots);
    const [entry, exit, toClient, fromOrigin] = [depots[0], depots.at(-1), legs[0], legs.at(-1)];
    if (entry === undefined || exit === undefined || !toClient || !fromOrigin) return;
    const { origin } = whoOf(download);
    const { sizeBytes, atMs } = download;
    const seen = this.#reportOf(toClient, entry, -1, number);
    const lost = Math.round(sizeBytes * (seen.lossRate ?? 0));
    const report = {
      prefix: prefixOf(download.client),
      rttMs: seen.rttMs,
      sentBytes: sizeBytes,
      retransmittedBytes: lost,
      ...(seen.goodputBps === undefined ? {} : { goodputBps: seen.goodputBps }),
    };
    const told = { type: 'ends-report', nowMs: atMs } as const;
    master.tell({ ...told, from: `d${entry}`, clients: [report], origins: [] });
    const shown = this.#reportOf(fromOrigin, exit, -2, number);
    const lostBytes = Math.round(sizeBytes * (shown.lossRate ?? 0));
    const { goodputBps } = shown;
    const isWorn = goodputBps !== undefined && lostBytes >= WEARING_LOSSES * SEGMENT_BYTES;
    const worn = isWorn ? { worn: { goodputBps, receivedBytes: sizeBytes, lostBytes } } : {};
    const rate =
      lanes === 1 ? { goodputBps, ...worn } : { totalBps: legGoodput(fromOrigin, lanes).goodputBps };
    const limit = fromOrigin.connectionBps === undefined ? 'network' : 'origin';
    const origins = [
      {
        ...originOf(download, origin),
        rttMs: shown.rttMs,
        receivedBytes: sizeBytes,
        lostBytes,
        ...rate,
        limit,
        takesRanges: true,
      },
    ] satisfies OriginReport[];
    master.tell({ ...told, from: `d${exit}`, clients: [], origins });
  }

  /** What the depots of a chain tell of a download when it is over. */
  #tellOutcome(
    master: SimulatedMaster,
    download: Download,
    {
      depots,
      lanes,
      seconds,
      modelSeconds,
    }: Way & { readonly seconds: number; readonly modelSeconds: number },
    number: number,
  ): void {
    const [entry = 0, second] = depots;
    const tells = (depot: number) => (this.#isLyingDepot(depot) ? seconds / 2 : seconds);
    const told = tells(entry);
    master.tell({
      type: 'outcome',
      who: whoOf(download),
      download: {
        jobId: String(number),
        chain: depots.map((depot) => `d${depot}`),
        lanes,
        bodyBytes: download.sizeBytes,
        seconds: told,
        timesPlanned: told / modelSeconds,
        isSeconded: second !== undefined && tells(second) <= told,
      },
      nowMs: download.atMs,
    });
  }

  /** Depots probe the origin until the master wants no more of that: what they find decides who is next. */
  async #probe(master: SimulatedMaster, download: Download, number: number): Promise<void> {
    const who = whoOf(download);
    for (;;) {
      const told = await master.heard({ type: 'heard', who, nowMs: download.atMs });
      if (told.length === 0) return;
      for (const id of told) {
        const depot = this.#depots[Number(id.slice(1))];
        if (!depot) continue;
        const leg = this.#world.leg(depot, download.origin, download.atMs);
        const { rttMs } = this.#reportOf(leg, depot.number, -2, number);
        const origins = [{ ...originOf(download, who.origin), rttMs }];
        master.tell({ type: 'ends-report', from: id, clients: [], origins, nowMs: download.atMs });
        this.#measuringBytes += PROBE_BYTES;
      }
    }
  }

  #reportOf(leg: LegEstimate, sender: number, receiver: number, number: number): LinkReport {
    const h = this.#noise;
    const scatter = (figure: number) => h.logNormal(1, NOISE, number, sender, receiver, figure);
    const isLiar = this.#isLyingDepot(sender);
    return {
      to: `d${receiver}`,
      rttMs: leg.rttMs * scatter(1) * (isLiar ? 0.5 : 1),
      lossRate: isLiar ? 0 : leg.lossRate * scatter(2),
      goodputBps: legGoodput(leg).goodputBps * scatter(3) * (isLiar ? 3 : 1),
    };
  }

  /** Whether the planner goes by what is measured of depots, clients and origins. */
  get #measures(): boolean {
    return this.#knowledge === 'measured' || this.#knowledge === 'honest';
  }

  #isLyingDepot(depot: number): boolean {
    return this.#knowledge !== 'honest' && this.#noise.uniform(depot, 9) < LYING.depots;
  }

  #isLyingClient({ number }: End): boolean {
    return this.#knowledge === 'measured' && this.#noise.uniform(number, 14) < LYING.prefixes;
  }

  /** Pairs of depots that have a link: each with some near ones, and with others anywhere. */
  #drawNeighbours(): (readonly [End, End])[] {
    const pairs = new Map<string, readonly [End, End]>();
    const note = (depot: End, other: End) => {
      const [one, two] = depot.number < other.number ? [depot, other] : [other, depot];
      pairs.set(`${one.number} ${two.number}`, [one, two]);
    };
    for (const depot of this.#depots) {
      const others = this.#depots.filter((other) => other !== depot);
      const near = this.#nearest(others, (other) => this.#world.leg(depot, other, 0), NEIGHBOURS.near);
      for (const { end } of near) note(depot, end);
      for (let at = 0; at < NEIGHBOURS.any; at += 1) {
        const any = others[Math.floor(this.#noise.uniform(depot.number, at, 8) * others.length)];
        if (any) note(depot, any);
      }
    }
    return [...pairs.values()];
  }

  #depotLinks(atMs: number): TypedLink[] {
    return this.#neighbours.map(([one, two]) =>
      typedLink(`d${one.number}`, `d${two.number}`, this.#world.leg(one, two, atMs)),
    );
  }

  #endLinks({ client, origin }: Download, atMs: number): TypedLink[] {
    const world = this.#world;
    return [
      typedLink('client', 'origin', world.leg(client, origin, atMs)),
      ...this.#nearest(this.#depots, (depot) => world.leg(client, depot, atMs)).map(({ end, leg }) =>
        typedLink('client', `d${end.number}`, leg),
      ),
      ...this.#nearest(this.#depots, (depot) => world.leg(depot, origin, atMs)).map(({ end, leg }) =>
        typedLink(`d${end.number}`, 'origin', leg),
      ),
    ];
  }

  #nearest(ends: readonly End[], legTo: (end: End) => LegEstimate, count = NEAREST) {
    return ends
      .map((end) => ({ end, leg: legTo(end) }))
      .toSorted((one, other) => one.leg.rttMs - other.leg.rttMs)
      .slice(0, count);
  }
}

function worldOf({ depots, prefixes, origins, shape, downloads, hours, restart }: SimPlan): SimLine['world'] {
  return { depots, prefixes, origins, ...(shape ? { shape } : {}), downloads, hours, restart };
}

/** Addresses by autonomous system, whose networks are neighbours. */
function whoOf({ client, origin }: Download): { readonly client: string; readonly origin: string } {
  return { client: `${networkOf(10, client)}.1`, origin: `o${origin.number}.example` };
}

function prefixOf(client: End): string {
  return `${networkOf(10, client)}.0/24`;
}

function originOf({ origin }: Download, host: string): Pick<OriginReport, 'host' | 'prefix'> {
  return { host, prefix: `${networkOf(100, origin)}.0/24` };
}

function networkOf(first: number, { system, number }: End): string {
  return `${first + Math.floor(system / 256)}.${system % 256}.${number % 256}`;
}

function typedLink(
  one: string,
  other: string,
  { rttMs, lossRate, rateBps, windowBytes }: LegEstimate,
): TypedLink {
  return { between: [one, other], rttMs, lossRate, rateBps, windowBytes };
}

function summary(outcomes: readonly Outcome[]) {
  // There is no mean of nothing, nor a worst of it.
  if (outcomes.length === 0) return { downloads: 0 as const, carriedBytes: 0 };
  const regrets = outcomes.map(({ seconds, bestSeconds }) => seconds / bestSeconds - 1);
  const share = (is: (outcome: Outcome) => boolean) => outcomes.filter(is).length / outcomes.length;
  const planMs = outcomes.map((outcome) => outcome.planMs);
  return {
    downloads: outcomes.length,
    regret: {
      mean: mean(regrets),
      median: median(regrets),
      p90: quantile(regrets, 0.9),
      worst: Math.max(...regrets),
    },
    byOrigin: Object.fromEntries(
      ORIGIN_SENDS.map((sends) => {
        const own = outcomes.flatMap(({ originSends }, at) =>
          originSends === sends ? [regrets[at] ?? 0] : [],
        );
        return [sends, own.length > 0 ? mean(own) : 0];
      }),
    ) as Record<OriginSends, number>,
    score: mean(outcomes.map(({ seconds, bestSeconds }) => bestSeconds / seconds)),
    directScore: mean(outcomes.map(({ directSeconds, bestSeconds }) => bestSeconds / directSeconds)),
    chainShare: share(({ isChain }) => isChain),
    bestChainShare: share(({ isBestChain }) => isBestChain),
    predictionError: median(
      outcomes.map(({ seconds, predictedSeconds }) => Math.abs(Math.log(seconds / predictedSeconds))),
    ),
    carriedBytes: outcomes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    planMs: { median: median(planMs), worst: Math.max(...planMs) },
  };
}
