import { setTimeout as delay } from 'node:timers/promises';
import { type Counters, readCounters } from '../watch/counters.ts';
import { heldBytesOf } from '../watch/held-memory.ts';
import { lookAt, pidOf, SERVICES, type Service, type ServiceLook } from '../watch/service-look.ts';
import type { World } from '../world/start-world.ts';
import { BOUNDS } from './bounds.ts';

const LOOK_MS = 250;

/** What a service holds and counts; nothing where its process has ended, or does not answer. */
export interface Standing {
  readonly look: ServiceLook | undefined;
  /** Memory that it needs: what its process has beside that is free to be used again. */
  readonly heldBytes: number | undefined;
  readonly counters: Counters | undefined;
}

export type Standings = Readonly<Record<Service, Standing>>;

/** What every service holds and counts now. */
export async function standingsOf(world: World): Promise<Standings> {
  const all = await Promise.all(
    SERVICES.map(async (service): Promise<[Service, Standing]> => {
      const look = await lookAt(world, service);
      if (!look) return [service, { look, heldBytes: undefined, counters: undefined }];
      const heldBytes = await heldBytesOf(world, pidOf(world, service));
      return [service, { look, heldBytes, counters: await readCounters(world, service) }];
    }),
  );
  return Object.fromEntries(all) as Standings;
}

/** Waits until every service holds what it held before, as long as that may take; gives what it holds then. */
export async function settle(world: World, before: Standings): Promise<Standings> {
  const deadlineMs = performance.now() + BOUNDS.settleSeconds * 1000;
  for (;;) {
    const now = await standingsOf(world);
    const isOver = performance.now() > deadlineMs;
    if (isOver || SERVICES.every((service) => isBack(now[service], before[service]))) return now;
    await delay(LOOK_MS);
  }
}

/**
 * Whether a service holds no more than it did, within the bounds of what may remain. One that has ended holds
 * nothing.
 */
export function isBack({ look, heldBytes, counters }: Standing, before: Standing): boolean {
  if (!look || !before.look) return true;
  const held = (heldBytes ?? Number.POSITIVE_INFINITY) - (before.heldBytes ?? 0);
  const active = (counters?.active ?? Number.POSITIVE_INFINITY) - (before.counters?.active ?? 0);
  return (
    look.descriptors - before.look.descriptors <= BOUNDS.descriptorGrowth &&
    look.socketBytes - before.look.socketBytes <= BOUNDS.socketGrowthBytes &&
    held <= BOUNDS.heldGrowthBytes &&
    active <= BOUNDS.activeGrowth
  );
}
