import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { stateOf } from '../../bench/soak/process-state.ts';
import type { World } from '../world/start-world.ts';
import { DEPOTS, type DepotId } from '../world/topology.ts';

export const SERVICES = ['master', ...DEPOTS] as const;
export type Service = 'master' | DepotId;

/** What a service holds at a moment. */
export interface ServiceLook {
  readonly rssBytes: number;
  readonly descriptors: number;
  /** What the kernel holds in the buffers of its connections. */
  readonly socketBytes: number;
}

/** Looks at a service from outside; `undefined` when its process has ended. */
export async function lookAt(world: World, service: Service): Promise<ServiceLook | undefined> {
  const pid = pidOf(world, service);
  if (!isAlive(pid)) return undefined;
  try {
    const { residentBytes, descriptors } = stateOf(pid);
    return { rssBytes: residentBytes, descriptors, socketBytes: await socketBytes(world, service) };
  } catch {
    // It has ended while it was looked at.
    return undefined;
  }
}

export function pidOf({ overlay }: World, service: Service): number {
  return service === 'master' ? overlay.master.pid : overlay.depot(service).pid;
}

/** Whether a process runs; one that has ended but that nobody has asked for its exit status does not. */
function isAlive(pid: number): boolean {
  const file = `/proc/${pid}/status`;
  return existsSync(file) && !/^State:\s+Z/m.test(readFileSync(file, 'utf8'));
}

/** Of all connections of the site, where nobody has any but the service. */
async function socketBytes({ network }: World, service: Service): Promise<number> {
  const child = network.spawn(service, ['ss', '-tnmH'], ['ignore', 'pipe', 'ignore']);
  const closed = once(child, 'close');
  const said = child.stdout ? await text(child.stdout) : '';
  await closed;
  return sumSocketBytes(said);
}

/** Received and not yet read, set aside, and queued to be sent: what `ss -tnmH` says, summed. */
export function sumSocketBytes(said: string): number {
  return [...said.matchAll(/skmem:\(r([0-9]+),.*?,f([0-9]+),w([0-9]+),/g)].reduce(
    (sum, [, received, forward, written]) => sum + Number(received) + Number(forward) + Number(written),
    0,
  );
}

/** The greater of each. */
export function peakOf(one: ServiceLook, other: ServiceLook): ServiceLook {
  return {
    rssBytes: Math.max(one.rssBytes, other.rssBytes),
    descriptors: Math.max(one.descriptors, other.descriptors),
    socketBytes: Math.max(one.socketBytes, other.socketBytes),
  };
}
