import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Network } from '../network/network.ts';
import { requireProgram } from '../programs.ts';
import { fillExample } from './fill-example.ts';

/** What the examples say between two packets of BFD. */
export const EXAMPLE_BFD_MS = 50;

interface BirdSpec {
  readonly network: Network;
  /** Where it runs. */
  readonly site: string;
  /** Its configuration, of docs/examples. */
  readonly example: string;
  /** What the site says in place of the example's values. */
  readonly values?: readonly (readonly [string, string])[];
  /** Between two packets of BFD; three that are missing are a fault. */
  readonly bfdMs: number;
}

/**
 * Starts BIRD at a site; what it says goes to `bird.log` in the site's folder, and it is told what to do at
 * `bird.ctl`. Gives where that is. It must answer within 150 ms whatever else the machine does: a router has
 * a processor for itself, as the emulator has.
 */
export async function startBird({ network, site, example, values = [], bfdMs }: BirdSpec): Promise<string> {
  const folder = join(network.folder, site);
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, 'bird.log'), 'a');
  const config = fillExample(folder, example, [
    ...values,
    [`interval ${EXAMPLE_BFD_MS} ms`, `interval ${bfdMs} ms`],
  ]);
  const socket = join(folder, 'bird.ctl');
  const command = ['chrt', '--fifo', '20', requireProgram('bird'), '-f', '-c', config, '-s', socket];
  const child: ChildProcess = network.spawn(site, command, ['ignore', log, log], folder);
  await once(child, 'spawn');
  return socket;
}
