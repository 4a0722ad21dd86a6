import type { ChildProcess } from 'node:child_process';
import type { Network } from '../../lab/network/network.ts';
import { startProgram } from '../../overlay/service-process.ts';

/** Starts a program of this folder at a site; it tells when it is ready, and talks by messages from then on. */
export async function startHelper(
  network: Network,
  site: string,
  name: string,
  command: readonly [string, ...string[]],
): Promise<ChildProcess> {
  let child: ChildProcess | undefined;
  await startProgram(command, network.folder, name, (line, cwd) => {
    child = network.spawn(site, line, ['ignore', 'ignore', 'pipe', 'ipc'], cwd);
    return child;
  });
  if (!child) throw new Error(`${name} was not started`);
  return child;
}
