import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteNamespaces, namespacesWith, pidsInside } from './namespaces.ts';

/** Records of living labs; gone after a restart of the machine, as the namespaces are. */
export const RUN_FOLDER = '/run/longhaul-lab';
/** Files of the hosts lie in memory where that is possible: a disk would slow transfers down now and then. */
export const FOLDER_BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** `lh-`, the driver's pid, a random part. */
const PREFIX = /^lh-([0-9]+)-[0-9a-f]{6}/;
/** SIGKILL takes effect at once, unless the kernel is busy with the process. */
const KILL_TIMEOUT_MS = 3000;
const KILL_INTERVAL_MS = 10;

/** One network of one driver. */
export interface Lab {
  readonly prefix: string;
  readonly folder: string;
}

interface LabRecord extends Lab {
  readonly pid: number;
  /** When the driver started, in clock ticks after the machine: tells it from a later process of the same pid. */
  readonly startTicks: string;
}

/** Takes a prefix and a folder for a new network of this process. Each is registered before it is made. */
export function claimLab(): Lab {
  const prefix = `lh-${process.pid}-${randomBytes(3).toString('hex')}`;
  const folder = join(FOLDER_BASE, prefix);
  const record: LabRecord = { prefix, folder, pid: process.pid, startTicks: startTicksOf(process.pid) ?? '' };
  mkdirSync(RUN_FOLDER, { recursive: true, mode: 0o700 });
  writeFileSync(recordFile(prefix), JSON.stringify(record), { flag: 'wx', mode: 0o600 });
  mkdirSync(folder, { mode: 0o700 });
  return { prefix, folder };
}

/**
 * Ends what runs in a lab's namespaces and removes them, its folder and its record. At once, without waiting
 * for anybody.
 */
export function removeLab({ prefix, folder }: Lab): void {
  const names = namespacesWith(`${prefix}-`);
  killInside(names);
  deleteNamespaces(names);
  rmSync(folder, { recursive: true, force: true });
  rmSync(recordFile(prefix), { force: true });
}

/** Removes what dead drivers left behind; labs of living ones are not touched. Gives the prefixes removed. */
export function removeLeftovers(): string[] {
  const records = new Map(readRecords().map((record) => [record.prefix, record]));
  const prefixes = new Set(
    [...listFolder(RUN_FOLDER), ...namespacesWith('lh-'), ...listFolder(FOLDER_BASE)].flatMap(
      (name) => PREFIX.exec(name)?.[0] ?? [],
    ),
  );
  const dead = [...prefixes].filter((prefix) => !isAlive(prefix, records.get(prefix)));
  for (const prefix of dead)
    removeLab({ prefix, folder: records.get(prefix)?.folder ?? join(FOLDER_BASE, prefix) });
  return dead;
}

/** Whether any lab lives, of this driver or another. */
export function isAnyLabAlive(): boolean {
  return readRecords().some((record) => isAlive(record.prefix, record));
}

function isAlive(prefix: string, record: LabRecord | undefined): boolean {
  const pid = Number(PREFIX.exec(prefix)?.[1]);
  const startTicks = startTicksOf(pid);
  if (startTicks === undefined) return false;
  // Without a record nobody knows whether the pid is still the driver's: better to leave it.
  return record === undefined || record.startTicks === startTicks;
}

function readRecords(): LabRecord[] {
  return listFolder(RUN_FOLDER).flatMap((name) => {
    if (!PREFIX.test(name)) return [];
    try {
      return [JSON.parse(readFileSync(join(RUN_FOLDER, name), 'utf8')) as LabRecord];
    } catch {
      // Removed meanwhile, or its driver was killed while it wrote: then the names tell the pid.
      return [];
    }
  });
}

/** Undefined when there is no such process, or only its exit status waits to be read. */
function startTicksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in parentheses, may have spaces; the state follows it, the start is 19 fields further.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function killInside(names: readonly string[]): void {
  const deadline = performance.now() + KILL_TIMEOUT_MS;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let pids = pidsInside(names); pids.length > 0; pids = pidsInside(names)) {
    if (performance.now() > deadline) throw new Error(`the processes ${pids.join(', ')} cannot be ended`);
    for (const pid of pids) killQuietly(pid);
    Atomics.wait(clock, 0, 0, KILL_INTERVAL_MS);
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function recordFile(prefix: string): string {
  return join(RUN_FOLDER, `${prefix}.json`);
}
