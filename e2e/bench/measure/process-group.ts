import { readdirSync, readFileSync } from 'node:fs';

/** A process with all its descendants, as the kernel sees them now. */
export interface ProcessGroup {
  /** CPU time of all living threads since they began, in nanoseconds. */
  readonly cpuNs: () => bigint;
  /** Memory resident now, shared pages counted at each process. */
  readonly rssBytes: () => number;
  /** Memory resident now that no other process shares. */
  readonly privateBytes: () => number;
  /** Open descriptors. */
  readonly descriptors: () => number;
  /** CPU time of each living thread since it began, in nanoseconds, by its id. */
  readonly threadsCpuNs: () => ReadonlyMap<string, bigint>;
}

/** Of /proc/PID/statm, whose unit is the page; 4096 on every machine the lab has run on. */
const PAGE_BYTES = 4096;

/** Watches a process; nothing at all where there is none. */
export function processGroup(pid: number | undefined): ProcessGroup {
  const pids = () => (pid === undefined ? [] : descendants(pid, parents()));
  const threadsCpuNs = () =>
    new Map(
      pids().flatMap((one) =>
        list(`/proc/${one}/task`).map((thread): [string, bigint] => [
          thread,
          parseSchedstat(read(`/proc/${one}/task/${thread}/schedstat`)),
        ]),
      ),
    );
  return {
    cpuNs: () => [...threadsCpuNs().values()].reduce((sum, ns) => sum + ns, 0n),
    threadsCpuNs,
    rssBytes: () => pids().reduce((sum, one) => sum + parseStatm(read(`/proc/${one}/statm`)), 0),
    privateBytes: () => pids().reduce((sum, one) => sum + parsePrivate(read(`/proc/${one}/statm`)), 0),
    descriptors: () => pids().reduce((sum, one) => sum + list(`/proc/${one}/fd`).length, 0),
  };
}

/** Nanoseconds on a CPU: the first of three fields of /proc/PID/task/TID/schedstat. 0 for a thread that has ended. */
export function parseSchedstat(text: string): bigint {
  const ns = /^([0-9]+) [0-9]+ [0-9]+\s*$/.exec(text)?.[1];
  return BigInt(ns ?? 0);
}

/** Resident bytes: the second field of /proc/PID/statm, in pages. 0 for a process that has ended. */
export function parseStatm(text: string): number {
  return Number(/^[0-9]+ ([0-9]+) /.exec(text)?.[1] ?? 0) * PAGE_BYTES;
}

/** Resident bytes less shared ones, the second and third fields. 0 for a process that has ended. */
export function parsePrivate(text: string): number {
  const [, resident = 0, shared = 0] = text.split(' ').map(Number);
  return (resident - shared) * PAGE_BYTES;
}

/** The parent's pid: the fourth field of /proc/PID/stat, behind a name that may hold spaces and parentheses. */
export function parseParent(text: string): number {
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** A process and all that descend from it, by a map from pids to parents. */
export function descendants(pid: number, parentOf: ReadonlyMap<number, number>): number[] {
  const found = [pid];
  for (const one of found)
    for (const [child, parent] of parentOf) if (parent === one && !found.includes(child)) found.push(child);
  return found;
}

function parents(): Map<number, number> {
  const pids = list('/proc').filter((name) => /^[0-9]+$/.test(name));
  return new Map(pids.map((pid) => [Number(pid), parseParent(read(`/proc/${pid}/stat`))]));
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It has ended meanwhile.
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
