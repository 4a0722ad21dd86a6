import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceProcess, startProgram } from '../../overlay/service-process.ts';
import { checkTopology } from './check-topology.ts';
import type { Network, RunningTraffic } from './network.ts';
import type { CrossTraffic } from './topology.ts';

const TRAFFIC_PROGRAM = join(import.meta.dirname, '..', 'hosts', 'traffic-main.ts');

/** Starts a sink and a source for each entry; resolves when all flows are connected, `stop` when all have ended. */
export async function startCrossTraffic(
  network: Pick<Network, 'topology' | 'folder' | 'addressOf' | 'spawn'>,
  traffic: readonly CrossTraffic[],
): Promise<RunningTraffic> {
  checkTopology(network.topology, traffic);
  const folder = join(network.folder, 'traffic');
  mkdirSync(folder, { recursive: true });
  const programs: ServiceProcess[] = [];
  const sinks: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(programs.map((program) => program.stop()));
  };
  const start = async (site: string, name: string, args: readonly string[]) => {
    const launch = (command: readonly string[], cwd: string) => {
      const child = network.spawn(site, command, ['ignore', 'ignore', 'pipe', 'ipc'], cwd);
      if (args[0] === 'sink') sinks.push(child);
      return child;
    };
    const program = await startProgram([TRAFFIC_PROGRAM, ...args], folder, name, launch);
    programs.push(program);
    return program;
  };
  const startFlows = async ({ from, to, flows }: CrossTraffic) => {
    const name = `${from}-${to}`;
    const sink = await start(to, `sink-${name}`, ['sink', '--host', network.addressOf(to)]);
    const { hostname, port } = new URL(sink.url);
    const target = ['--host', hostname, '--port', port, '--flows', String(flows)];
    await start(from, `source-${name}`, ['source', ...target]);
  };
  const started = await Promise.allSettled(traffic.map(startFlows));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const receivedBytes = async () => {
    const counts = await Promise.all(sinks.map(countOf));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return { receivedBytes, stop };
}

async function countOf(sink: ChildProcess): Promise<number> {
  const answered = once(sink, 'message') as Promise<[{ receivedBytes: number }]>;
  sink.send('count');
  const [{ receivedBytes }] = await answered;
  return receivedBytes;
}
