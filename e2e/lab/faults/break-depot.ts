import { once } from 'node:events';
import type { FaultKind } from '../experiment.ts';
import type { Network } from '../network/network.ts';
import { endsOf } from '../network/routes.ts';
import { requireProgram } from '../programs.ts';

/** A depot's process and the host it runs on. */
export interface BreakableHost {
  readonly network: Network;
  readonly site: string;
  readonly pid: number;
  /** Ends the process by SIGKILL and waits for that; does nothing the second time. */
  readonly kill: () => Promise<void>;
}

/**
 * Ends a host's service in one of three ways.
 *
 * - `fin`: the process is killed, and the kernel closes its connections: what was accepted for sending still
 *   arrives, then
 *   FIN. Where something had come that the process had not read, its peer gets RST instead: so does the neighbour
 *   upstream when a body is under way.
 * - `rst`: the process is stopped, then the kernel is told to abort each of its connections (`ss -K`): every
 *   peer gets RST
 *   at once, what was not yet sent is lost. Then the process is killed.
 * - `silence`: every link of the host is cut. Peers hear nothing any more: no data, no acknowledgement, no
 *   answer to a
 *   new connection.
 *
 * Resolves when it has happened.
 */
export async function breakDepot(kind: FaultKind, host: BreakableHost): Promise<void> {
  switch (kind) {
    case 'fin':
      return host.kill();
    case 'rst':
      process.kill(host.pid, 'SIGSTOP');
      await abortConnections(host);
      return host.kill();
    case 'silence':
      return setCut(host, true);
  }
}

/**
 * Leaves the host as one that has been switched off and on again: reachable, without the process or its
 * connections.
 */
export async function mendHost(host: BreakableHost): Promise<void> {
  await host.kill();
  // While links are cut nobody hears of it: a host that was silent has forgotten, and says so only when asked.
  await abortConnections(host);
  await setCut(host, false);
}

async function abortConnections({ network, site }: BreakableHost): Promise<void> {
  const child = network.spawn(site, [requireProgram('ss'), '-K', '-t'], 'ignore');
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0)
    throw new Error(`ss -K at ${site} ended with code ${code}: the kernel must have INET_DIAG_DESTROY`);
}

async function setCut({ network, site }: BreakableHost, isCut: boolean): Promise<void> {
  const links = network.topology.links.filter((link) => !('wire' in link) && endsOf(link).includes(site));
  for (const [from, to] of links.map(endsOf))
    await network.setLink({ from, to, direction: 'both' }, { isCut });
}
