import type { LineFile } from '../../lab/results/result-file.ts';
import { measureHeld, untilStill } from '../measure/measure-held.ts';
import { type Bench, measureRun } from '../measure/measure-run.ts';
import type { HeldLine, RelayLine } from '../measure/relay-line.ts';
import type { Relay } from '../relays/relay.ts';
import { type BenchPlan, turnsOf } from './plan-bench.ts';

export interface BenchRun {
  readonly bench: Bench;
  /** In the order of the report. */
  readonly relays: readonly Relay[];
  /** A depot with caps on its sockets' buffers, for flows that nobody reads. */
  readonly capped: Relay | undefined;
  readonly plan: BenchPlan;
  readonly runs: LineFile<RelayLine>;
  readonly held: LineFile<HeldLine>;
  readonly say: (text: string) => void;
  /** Ends the benchmark before the next run. */
  readonly signal: AbortSignal;
}

/** Does what the plan says and the files do not hold yet. Rejects when a flow fails: then nothing more is measured. */
export async function runBench(benchRun: BenchRun): Promise<void> {
  // First, while the relays are fresh: later their heaps have grown and take in what rests without growing.
  await runHeld(benchRun);
  await untilStill();
  await runLoads(benchRun);
}

async function runHeld({ bench, relays, capped, plan, held, say, signal }: BenchRun): Promise<void> {
  const done = new Set(held.lines.map((line) => `${line.relay} ${line.held}`));
  for (const { held: kind, flows } of plan.held)
    for (const relay of kind === 'capped' ? [capped] : relays) {
      if (!relay) continue;
      const isWanted = plan.holdsRivals || relay.planeObstacle !== undefined;
      if (relay.pid === undefined || !isWanted || done.has(`${relay.id} ${kind}`)) continue;
      signal.throwIfAborted();
      const line = await named(relay, measureHeld(bench, relay, kind, flows));
      held.append(line);
      say(`${flows} ${kind} flows, ${relay.id}: ${(line.rssGrowthBytes / flows / 1000).toFixed(1)} kB each`);
    }
}

async function runLoads({ bench, relays, plan, runs, say, signal }: BenchRun): Promise<void> {
  const key = (relay: string, flows: number, repeat: number) => `${relay} ${flows} ${repeat}`;
  const done = new Set(runs.lines.map((line) => key(line.relay, line.flows, line.repeat)));
  const total = relays.length * plan.loads.length * plan.repeats;
  for (const load of plan.loads) {
    for (let repeat = 0; repeat <= plan.repeats; repeat += 1) {
      for (const relay of turnsOf(relays, repeat)) {
        const isDone = (at: number) => done.has(key(relay.id, load.flows, at));
        const isWarmUp = repeat === 0;
        if (isWarmUp ? isEvery(plan.repeats, isDone) : isDone(repeat)) continue;
        signal.throwIfAborted();
        const line = await named(relay, measureRun(bench, relay, load, repeat));
        if (isWarmUp) continue;
        runs.append(line);
        done.add(key(relay.id, load.flows, repeat));
        say(`[${String(done.size).padStart(String(total).length)}/${total}] ${described(line)}`);
      }
    }
    await checkPlanes(relays);
  }
}

/** Throws when a depot has carried flows by another plane than its figures will be reported as. */
async function checkPlanes(relays: readonly Relay[]): Promise<void> {
  for (const relay of relays) {
    const obstacle = await relay.planeObstacle?.();
    if (obstacle !== undefined) throw new Error(`${relay.id} is not what was measured: ${obstacle}`);
  }
}

function isEvery(repeats: number, isDone: (repeat: number) => boolean): boolean {
  return Array.from({ length: repeats }, (_, at) => at + 1).every(isDone);
}

function described({ relay, flows, cpuSecondsPerGB, goodputBps }: RelayLine): string {
  const times = `${flows} ${flows === 1 ? 'flow' : 'flows'}`;
  return `${times}, ${relay}: ${cpuSecondsPerGB.toFixed(3)} CPU s/GB, ${(goodputBps / 1e9).toFixed(1)} Gbit/s`;
}

/** Names the relay in whatever goes wrong with it. */
async function named<T>(relay: Relay, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    throw new Error(`${relay.id}: ${reason}`, { cause: failure });
  }
}
