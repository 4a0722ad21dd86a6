import { join } from 'node:path';
import { startBystander } from '../bystander/bystander.ts';
import { LogReader } from '../watch/log-reader.ts';
import { SERVICES, type Service } from '../watch/service-look.ts';
import type { World } from '../world/start-world.ts';
import { CalmTimes } from './calm-times.ts';
import type { Scene } from './strike.ts';

/** Half a second over the bystander's line. */
const BYSTANDER_BYTES = 2_000_000;
const NEIGHBOUR_BYTES = 200_000;
/** The neighbour is watched only: he shall not be a load of his own. */
const NEIGHBOUR_PAUSE_MS = 300;
/** So that code is compiled and pools are filled before anything is measured. */
const WARM_UP_DOWNLOADS = 8;

/** Sets those who are watched to their downloads, and waits until these take their usual time. */
export async function openScene(world: World): Promise<Scene> {
  const bystander = await startBystander(world, 'bystander', {
    name: 'bystander',
    sizeBytes: BYSTANDER_BYTES,
    pauseMs: 0,
  });
  const neighbour = await startBystander(world, 'attacker', {
    name: 'neighbour',
    sizeBytes: NEIGHBOUR_BYTES,
    pauseMs: NEIGHBOUR_PAUSE_MS,
    localAddress: world.placeOf('neighbour'),
  });
  const logs = Object.fromEntries(
    SERVICES.map((service) => [service, new LogReader(join(world.overlayFolder, `${service}.log`))]),
  ) as Record<Service, LogReader>;
  for (let done = 0; done < WARM_UP_DOWNLOADS; done += 1) await bystander.next();
  return { world, bystander, neighbour, logs, calm: new CalmTimes() };
}
