import { join } from 'node:path';
import { startHelper } from '../world/start-helper.ts';
import type { World } from '../world/start-world.ts';
import type { Download } from './download.ts';

const PROGRAM = join(import.meta.dirname, 'bystander-main.ts');

export interface BystanderOrder {
  /** Stands in the names and paths of all that is downloaded; attackers have others. */
  readonly name: string;
  readonly masterUrl: string;
  readonly sizeBytes: number;
  readonly pauseMs: number;
  readonly localAddress?: string;
  readonly caFile?: string;
}

/** A download of a bystander, by the driver's clock. */
export interface Witness extends Download {
  readonly way: string;
  readonly beganMs: number;
  readonly endedMs: number;
}

export interface Bystander {
  /** All downloads so far, in the order in which they ended. */
  readonly downloads: readonly Witness[];
  /** When the download that runs now began. */
  readonly runningSinceMs: () => number | undefined;
  /** Resolves when the next download has ended. */
  readonly next: () => Promise<void>;
}

/** Starts a bystander at a site; it downloads until its network is closed. */
export async function startBystander(
  { network, overlay, caFile }: World,
  site: string,
  order: Omit<BystanderOrder, 'masterUrl' | 'caFile'>,
): Promise<Bystander> {
  const downloads: Witness[] = [];
  const waiting: (() => void)[] = [];
  let beganMs: number | undefined;
  const full: BystanderOrder = { ...order, masterUrl: overlay.master.url, ...(caFile ? { caFile } : {}) };
  const child = await startHelper(network, site, order.name, [PROGRAM, JSON.stringify(full)]);
  child.on('message', ({ ended }: { readonly ended?: Download & { readonly way: string } }) => {
    const nowMs = performance.now();
    if (!ended) {
      beganMs = nowMs;
      return;
    }
    downloads.push({ ...ended, beganMs: nowMs - ended.seconds * 1000, endedMs: nowMs });
    beganMs = undefined;
    for (const resolve of waiting.splice(0)) resolve();
  });
  return {
    downloads,
    runningSinceMs: () => beganMs,
    next: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
