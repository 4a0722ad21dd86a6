import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onCore, SITE, TRAFFIC_CORE } from '../relays/relay.ts';
import type { CaseStage } from './bench-case.ts';

const FOLDER = join(import.meta.dirname, 'clients');

export interface ClientOrder {
  /** A file of `clients/`. */
  readonly program: string;
  readonly args: readonly string[];
  /** What it reads from its standard input. */
  readonly input?: string;
  /** Default 0; a probe comes before what loads its core, a load after what is measured there. */
  readonly niceness?: number;
}

/**
 * Runs one of the clients on the traffic's core until it ends, and gives what it says as JSON. Rejects when
 * it fails.
 */
export async function runClient<Said>({ network }: CaseStage, order: ClientOrder): Promise<Said> {
  const { program, args, input = '', niceness = 0 } = order;
  const node = [process.execPath, join(FOLDER, program), ...args];
  const command = ['nice', '-n', String(niceness), ...onCore(TRAFFIC_CORE, node)];
  const child = network.spawn(SITE, command, ['pipe', 'pipe', 'pipe']);
  const ended = once(child, 'exit');
  child.stdin?.end(input);
  const [said, complaint] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
  ]);
  await ended;
  if (child.exitCode !== 0) throw new Error(`${program} failed:\n${complaint.slice(0, 2000)}`);
  return JSON.parse(said) as Said;
}
