import type { OriginReport } from '@longhaul/shared';
import type { Download } from './oracle.ts';
import type { Pair } from './planner-port.ts';
import type { End } from './world.ts';

/** What a depot of the world is called, by its number. */
export function depotId(number: number): string {
  return `d${number}`;
}

/** The number of the depot that is called so: {@link depotId} undone. */
export function depotNumber(id: string): number {
  return Number(id.slice(1));
}

/** Who a download is of. */
export function whoOf({ client, origin }: Download): Pair {
  return { client: `${networkOf(10, client)}.1`, origin: `o${origin.number}.example` };
}

/** The network of a client. */
export function prefixOf(client: End): string {
  return `${networkOf(10, client)}.0/24`;
}

/** An origin as who measured it names it. */
export function originOf({ origin }: Download, host: string): Pick<OriginReport, 'host' | 'prefix'> {
  return { host, prefix: `${networkOf(100, origin)}.0/24` };
}

/** By autonomous system, whose networks are neighbours. */
function networkOf(first: number, { system, number }: End): string {
  return `${first + Math.floor(system / 256)}.${system % 256}.${number % 256}`;
}
