import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What a process holds, from `/proc`. */
export interface ProcessState {
  readonly descriptors: number;
  readonly pipes: number;
  readonly sockets: number;
  readonly residentBytes: number;
}

/** Looks at a living process. */
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
