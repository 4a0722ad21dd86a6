import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findProgramFile } from '../requirements.ts';

/** Where `ip netns` keeps its names. */
const NAMES_FOLDER = '/var/run/netns';

/**
 * Runs lines of `ip` in one process, in the namespace when there is one; rejects the rest after the first that fails.
 * Throws with what `ip` said.
 */
export function runIp(lines: readonly string[], namespace?: string): void {
  if (lines.length === 0) return;
  const where = namespace === undefined ? [] : ['-n', namespace];
  const result = spawnSync(ipProgram(), [...where, '-batch', '-'], { input: `${lines.join('\n')}\n` });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`ip failed${at(namespace)}: ${result.stderr.toString().trim()}`);
}

/** Sets the kernel's settings of a namespace, each `name=value`. Throws with what `sysctl` said. */
export function setSysctls(namespace: string, settings: readonly string[]): void {
  const args = ['netns', 'exec', namespace, findProgramFile('sysctl') ?? 'sysctl', '-q', '-w', ...settings];
  const result = spawnSync(ipProgram(), args);
  if (result.error) throw result.error;
  const said = result.stderr.toString().trim();
  if (result.status !== 0 || said !== '') throw new Error(`sysctl failed${at(namespace)}: ${said}`);
}

/** Packets that the own queues of a namespace's devices have dropped since they were made. */
export function sendDrops(namespace: string): number {
  const result = spawnSync(ipProgram(), ['-n', namespace, '-stats', '-json', 'link', 'show']);
  if (result.error) throw result.error;
  const devices = JSON.parse(result.stdout.toString()) as readonly {
    ifname: string;
    stats64?: { tx: { dropped: number } };
  }[];
  return devices.reduce((sum, { stats64 }) => sum + (stats64?.tx.dropped ?? 0), 0);
}

/** A namespace's own route to an address, as `ip` tells it; empty where it has none. */
export function showRoute(address: string, namespace: string): string {
  const result = spawnSync(ipProgram(), ['-n', namespace, 'route', 'show', address]);
  if (result.error) throw result.error;
  return result.stdout.toString().trim();
}

/** Starts a program inside; the process is the program's own, `ip` becomes it. */
export function spawnInside(
  namespace: string,
  command: readonly string[],
  options: { readonly stdio: StdioOptions; readonly cwd?: string },
): ChildProcess {
  return spawn(ipProgram(), ['netns', 'exec', namespace, ...command], options);
}

/** Names of all namespaces that start so. */
export function namespacesWith(prefix: string): string[] {
  try {
    return readdirSync(NAMES_FOLDER).filter((name) => name.startsWith(prefix));
  } catch {
    // Nobody has made a namespace since the machine came up.
    return [];
  }
}

/** Removes namespaces; those that are gone already do not matter. */
export function deleteNamespaces(names: readonly string[]): void {
  if (names.length === 0) return;
  const input = names.map((name) => `netns delete ${name}\n`).join('');
  const result = spawnSync(ipProgram(), ['-force', '-batch', '-'], { input });
  if (result.error) throw result.error;
  const left = new Set(namespacesWith(''));
  if (names.some((name) => left.has(name)))
    throw new Error(`ip could not delete all namespaces: ${result.stderr.toString().trim()}`);
}

/** Processes that run in any of these namespaces. */
export function pidsInside(names: readonly string[]): number[] {
  const inodes = new Set(names.map(inodeOf));
  return readdirSync('/proc')
    .filter((entry) => /^[0-9]+$/.test(entry))
    .filter((pid) => inodes.has(networkOf(pid) ?? 'ended meanwhile'))
    .map(Number);
}

function inodeOf(name: string): string {
  try {
    return `net:[${statSync(join(NAMES_FOLDER, name)).ino}]`;
  } catch {
    return '';
  }
}

function networkOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}

function ipProgram(): string {
  return findProgramFile('ip') ?? 'ip';
}

function at(namespace: string | undefined): string {
  return namespace === undefined ? '' : ` in ${namespace}`;
}
