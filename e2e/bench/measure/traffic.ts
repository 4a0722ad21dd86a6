import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Network } from '../../lab/network/network.ts';
import { onCore, SITE, TRAFFIC_CORE } from '../relays/relay.ts';
import type { SinkOrder, SinkReport } from '../traffic/traffic-order.ts';

const FOLDER = join(import.meta.dirname, '..', 'traffic');

/** Source and sink, each a process of its own on the traffic's core. */
export interface Traffic {
  /** Has the sink do something. Rejects when it fails. */
  readonly order: (order: SinkOrder) => Promise<SinkReport>;
}

/** Starts source and sink; `network.close` ends them. */
export async function startTraffic(network: Network, sourcePort: number): Promise<Traffic> {
  const host = network.addressOf(SITE);
  const [, { child: sink, ended }] = await Promise.all([
    start(network, ['source-main.ts', '--host', host, '--port', String(sourcePort)]),
    start(network, ['sink-main.ts']),
  ]);
  return {
    order: async (order) => {
      const message = once(sink, 'message', { signal: ended });
      sink.send(order);
      const [{ report }] = (await message) as [{ readonly report: SinkReport }];
      if (report.error !== undefined) throw new Error(report.error);
      return report;
    },
  };
}

interface TrafficProgram {
  readonly child: ChildProcess;
  /** Aborts when it has ended: then it will say nothing more. */
  readonly ended: AbortSignal;
}

async function start(network: Network, [program = '', ...args]: readonly string[]): Promise<TrafficProgram> {
  const command = onCore(TRAFFIC_CORE, [process.execPath, join(FOLDER, program), ...args]);
  const child = network.spawn(SITE, command, ['ignore', 'ignore', 'pipe', 'ipc']);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 10_000) said += text;
  });
  const end = new AbortController();
  child.once('exit', () => end.abort(new Error(`${program} has ended:\n${said}`)));
  await once(child, 'message', { signal: end.signal }).catch(() => {
    throw new Error(`${program} did not start:\n${said}`);
  });
  return { child, ended: end.signal };
}
