import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LineFile } from '../results/result-file.ts';
import { drawDownloads } from './draw-downloads.ts';
import { Hashed } from './hashed.ts';
import { drawNeighbours, type Neighbours } from './neighbours.ts';
import { type Download, Oracle, trueLegs, trueSeconds } from './oracle.ts';
import type { TypedLink } from './planner-port.ts';
import type { SimDecision } from './sim-decision.ts';
import { isTold, type Knowledge, type Restart, type SimLine } from './sim-line.ts';
import { depotNumber, whoOf } from './sim-names.ts';
import { type SimOutcome, summaryOf } from './sim-summary.ts';
import { SimulatedMaster } from './simulated-master.ts';
import { depotLinks, endLinks } from './typed-links.ts';
import { DepotReports } from './what-depots-tell.ts';
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
/** Who is informed hears of the links between depots so often. */
const INFORMED_EVERY_MS = 3_600_000;
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
  readonly #neighbours: readonly Neighbours[];
  readonly #reports: DepotReports;
  /** What stands in the master's configuration. */
  readonly #typed: readonly TypedLink[];
  readonly #stateDir = mkdtempSync(join(tmpdir(), 'longhaul-sim-master-'));
  #informedUntilMs = 0;

  constructor({ world, oracle, plan, knowledge, onDecision }: SimulationInit) {
    stateDirs.add(this.#stateDir);
    this.#onDecision = onDecision;
    this.#world = world;
    this.#oracle = oracle;
    this.#plan = plan;
    this.#knowledge = knowledge;
    this.#depots = Array.from({ length: plan.depots }, (_, number) => world.depot(number));
    const noise = new Hashed(plan.seed + 2);
    const neighbours = drawNeighbours(world, this.#depots, noise);
    this.#neighbours = neighbours;
    this.#typed = knowledge === 'typed' || knowledge === 'reported' ? depotLinks(world, neighbours, 0) : [];
    this.#reports = new DepotReports({ world, knowledge, depots: this.#depots, neighbours, noise });
  }

  async run(signal: AbortSignal, onLine: (line: SimLine) => void): Promise<void> {
    let { master } = await this.#startMaster(0);
    let cpuBefore = 0;
    let restart: SimLine['restart'];
    let outcomes: SimOutcome[] = [];
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
          ...summaryOf(outcomes),
          measuringBytes: this.#reports.takeMeasuringBytes(),
          residentBytes,
          cpuSeconds: cpuSeconds - cpuBefore,
          ...(restart ? { restart } : {}),
        });
        [cpuBefore, restart, outcomes] = [cpuSeconds, undefined, []];
        window += 1;
        if (window !== RESTART_BEFORE || this.#plan.restart === 'none') continue;
        ({ master, restart } = await this.#restart(master, download.atMs));
        cpuBefore = 0;
      }
    } finally {
      await master.stop();
      this.#forget();
      stateDirs.delete(this.#stateDir);
    }
  }

  /** Ends the master and starts another one, with what it had written down or without. */
  async #restart(master: SimulatedMaster, atMs: number) {
    const { bytes: fileBytes, seconds: saveSeconds } = await master.save(atMs);
    await master.stop();
    if (this.#plan.restart === 'forget') this.#forget();
    const startedMs = performance.now();
    const { master: another, facts, refused } = await this.#startMaster(atMs);
    const readySeconds = (performance.now() - startedMs) / 1000;
    // Who tells it of the links between depots does so again.
    this.#informedUntilMs = 0;
    return { master: another, restart: { readySeconds, facts, refused, fileBytes, saveSeconds } };
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

  async #serve(master: SimulatedMaster, download: Download, number: number): Promise<SimOutcome> {
    const { sizeBytes, atMs } = download;
    if (this.#knowledge === 'informed' && atMs >= this.#informedUntilMs) {
      master.tell({ type: 'links', links: depotLinks(this.#world, this.#neighbours, atMs) });
      this.#informedUntilMs = atMs + INFORMED_EVERY_MS;
    }
    if (this.#measures) {
      this.#reports.testLinks(master, atMs);
      this.#reports.seeClient(master, download, number);
    }
    const isToldEnds = !this.#measures && this.#knowledge !== 'none';
    const knownAtMs = this.#knowledge === 'informed' ? atMs : 0;
    const planned = await master.plan({
      type: 'plan',
      sizeBytes,
      nowMs: atMs,
      ...(this.#measures ? { who: whoOf(download) } : {}),
      isExplained: this.#onDecision !== undefined,
      ends: isToldEnds ? endLinks(this.#world, this.#depots, download, knownAtMs) : [],
    });
    const depots = planned.chain.map((id) => depotNumber(id));
    const best = this.#oracle.best(download);
    const way = { depots, lanes: planned.lanes };
    const seconds = trueSeconds(this.#world, download, way);
    if (this.#measures || this.#knowledge === 'reported')
      this.#reports.reportLegs(master, download, way, number);
    const isLiars = this.#reports.isLyingClient(download.client);
    if (this.#measures) {
      this.#reports.reportEnds(master, download, way, number);
      await this.#reports.probe(master, download, number);
      if (depots.length > 0)
        this.#reports.tellOutcome(master, download, { ...planned, seconds, depots }, number);
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

  /** Whether the planner goes by what is measured of depots, clients and origins. */
  get #measures(): boolean {
    return this.#knowledge === 'measured' || this.#knowledge === 'honest';
  }
}

function worldOf({ depots, prefixes, origins, shape, downloads, hours, restart }: SimPlan): SimLine['world'] {
  return { depots, prefixes, origins, ...(shape ? { shape } : {}), downloads, hours, restart };
}
