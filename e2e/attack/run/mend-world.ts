import { setTimeout as delay } from 'node:timers/promises';
import { SERVICES } from '../watch/service-look.ts';
import type { World } from '../world/start-world.ts';
import { BOUNDS } from './bounds.ts';
import { isBack, type Standings, standingsOf } from './settle.ts';
import { whoIsDown } from './strike-watch.ts';

const LOOK_MS = 250;
/** A depot that has missed heartbeats is up again with the next one. */
const UP_SECONDS = 30;

/**
 * Makes a world fit for the next strike: services that have ended, or hold what they did not hold before, or
 * have grown large, are started anew, and all depots are waited for. Names those that were started.
 */
export async function mendWorld(world: World, wanted: Standings): Promise<readonly string[]> {
  const { overlay } = world;
  const now = await standingsOf(world);
  const broken = SERVICES.filter((service) => {
    const { look } = now[service];
    return !look || look.rssBytes > BOUNDS.restingRssBytes || !isBack(now[service], wanted[service]);
  });
  for (const service of broken) {
    if (service === 'master') {
      await overlay.master.kill();
      await overlay.restartMaster();
    } else {
      await overlay.depot(service).kill();
      await overlay.restartDepot(service);
    }
  }
  const deadlineMs = performance.now() + UP_SECONDS * 1000;
  for (;;) {
    const down = await whoIsDown(world);
    if (down.length === 0) return broken;
    if (performance.now() > deadlineMs) throw new Error(`the world does not come back: ${down.join(', ')}`);
    await delay(LOOK_MS);
  }
}
