import { existsSync, readdirSync } from 'node:fs';
import { RUN_FOLDER } from '../network/leftovers.ts';

/** How many drivers beside this one have a lab just now; on a small machine they slow each other down. */
export function countOtherLabs(): number {
  const pids = new Set(recordNames().flatMap((name) => /^lh-([0-9]+)-/.exec(name)?.[1] ?? []));
  pids.delete(String(process.pid));
  // A record of a dead driver stays until the next lab starts; a pid that was given anew is counted in vain, seldom.
  return [...pids].filter((pid) => existsSync(`/proc/${pid}`)).length;
}

function recordNames(): string[] {
  try {
    return readdirSync(RUN_FOLDER);
  } catch {
    return [];
  }
}
