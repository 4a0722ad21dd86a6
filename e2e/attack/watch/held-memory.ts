import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { World } from '../world/start-world.ts';

/** A service that has not said it by then has no time for anybody. */
const PATIENCE_MS = 5000;
const LOOK_MS = 20;

/** What a service holds once it has dropped what it no longer needs, in bytes; `undefined` when it does not say. */
export async function heldBytesOf({ overlayFolder }: World, pid: number): Promise<number | undefined> {
  const file = join(overlayFolder, `${pid}.held`);
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (const deadlineMs = performance.now() + PATIENCE_MS; performance.now() < deadlineMs; ) {
    if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
    await delay(LOOK_MS);
  }
  return undefined;
}
