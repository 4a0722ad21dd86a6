import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ProcessState } from './soak-line.ts';

/** Looks at a living process, in `/proc`. */
export function stateOf(pid: number): ProcessState {
  const targets = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // Closed while it was looked at.
      return [];
    }
  });
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    descriptors: targets.length,
    pipes: targets.filter((target) => target.startsWith('pipe:')).length,
    sockets: targets.filter((target) => target.startsWith('socket:')).length,
    residentBytes: Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(status)?.[1] ?? 0) * 1024,
  };
}
