import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { machineLoad } from '../../lab/results/machine-load.ts';
import { processGroup } from '../measure/process-group.ts';
import { startRedirector } from '../redirect/start-contestants.ts';
import type { BenchRun } from '../run/bench-run.ts';
import type { Flood, OverloadLine } from './overload-line.ts';

const FLOOD_MAIN = join(import.meta.dirname, 'flood-main.ts');
/** Connections that keep a master busy while nobody waits for long. */
const CALM_CONNECTIONS = 16;
/** A network that asks for little beside the flood: requests a second. */
const BYSTANDER_RATE = 50;
const FLOODER = '127.0.1.1';
const BYSTANDER = '127.0.2.1';

export interface OverloadRun extends BenchRun<OverloadLine> {
  readonly connections: readonly number[];
  /** Of each flood. */
  readonly seconds: number;
}

/** Measures what a master can plan, then asks it for twice as much. */
export async function runOverload({
  connections,
  repeats,
  seconds,
  file,
  say,
  signal,
}: OverloadRun): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-overload-'));
  const master = await startRedirector('longhaul', { folder, tls: undefined, links: 'chain' });
  let first = 0;
  const flood = (count: number, rate: number, address: string) => {
    first += 10_000_000;
    const args = [FLOOD_MAIN, master.port, master.path, count, rate, seconds, first, address].map(String);
    return ask(args);
  };
  try {
    const group = processGroup(master.pid);
    await flood(CALM_CONNECTIONS, 0, FLOODER);
    for (let repeat = 1; repeat <= repeats; repeat += 1)
      for (const count of connections) {
        if (file.lines.some((line) => line.repeat === repeat && line.connections === count)) continue;
        signal.throwIfAborted();
        const before = group.cpuNs();
        const calm = await flood(CALM_CONNECTIONS, 0, FLOODER);
        const cpuSeconds = Number(group.cpuNs() - before) / 1e9;
        const capacity = Math.round((calm.chain + calm.direct) / cpuSeconds);
        const [many, few] = await Promise.all([
          flood(count, 2 * capacity, FLOODER),
          flood(10, BYSTANDER_RATE, BYSTANDER),
        ]);
        const load = machineLoad();
        file.append({
          bench: 'overload',
          connections: count,
          repeat,
          capacity,
          flood: many,
          bystander: few,
          load,
        });
        const perSecond = Math.round(many.answered / seconds);
        say(`${count} connections, ${repeat}.: ${capacity}/s planned, ${perSecond}/s answered at twice that`);
      }
  } finally {
    await master.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ask(args: readonly string[]): Promise<Flood> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (said === '') throw new Error(`nobody could ask: ${complaint}`);
  return JSON.parse(said) as Flood;
}
