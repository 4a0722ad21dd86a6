import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findProgram, isExecutable } from './find-program.ts';

/** The oldest line of nats-server that knows all keys of docs/examples/nats; Debian's is older. */
const NATS_SERVER = 'github.com/nats-io/nats-server/v2@v2.12.15';
/** What that version needs, as Go's modules name it; an older Go fetches it. */
const GO_VERSION = { major: 1, minor: 25, patch: 12 };

/**
 * Finds the nats-server of the tests: where `LONGHAUL_NATS_SERVER` says, or where it was built.
 * @returns its path, or `undefined` when there is none.
 * @throws {Error} when the environment variable names no executable file.
 */
export function findNatsServer(): string | undefined {
  const chosen = process.env.LONGHAUL_NATS_SERVER;
  if (chosen !== undefined && chosen !== '') {
    if (!isExecutable(chosen)) {
      throw new Error(`LONGHAUL_NATS_SERVER is '${chosen}', which is not an executable file`);
    }
    return chosen;
  }
  const built = join(builtFolder(), executable('nats-server'));
  return isExecutable(built) ? built : undefined;
}

/**
 * Builds it with the Go on the PATH, in about a minute of CPU time; later runs find it. Whether it worked
 * shows in what is found.
 */
export function buildNatsServer(): void {
  const go = findNewGo();
  if (go === undefined) return;
  const folder = builtFolder();
  mkdirSync(join(folder, '..'), { recursive: true });
  // Only what is whole gets its name.
  const unfinished = mkdtempSync(`${folder}-`);
  const environment = { GOBIN: unfinished, CGO_ENABLED: '0' };
  if (runGo(go, ['install', '-trimpath', NATS_SERVER], environment)) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } else rmSync(unfinished, { recursive: true, force: true });
}

/** Outside the repository, so that other clones and clean ones find it. */
function builtFolder(): string {
  const { XDG_CACHE_HOME } = process.env;
  const caches = XDG_CACHE_HOME ? XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(caches, 'longhaul', `nats-server-${NATS_SERVER.split('@').at(-1)}`);
}

/**
 * A Go that can build it: the one on the PATH, or one that this fetches as a module, which any Go of the last
 * years can do.
 */
function findNewGo(): string | undefined {
  const go = findProgram('go');
  if (go === undefined || isNewEnough(go)) return go;
  const { major, minor, patch } = GO_VERSION;
  const platform = `${process.platform}-${process.arch}`.replace('win32', 'windows').replace('x64', 'amd64');
  const module = `golang.org/toolchain@v0.0.1-go${major}.${minor}.${patch}.${platform}`;
  console.log(`> ${go} mod download ${module}`);
  const { stdout } = spawnSync(go, ['mod', 'download', '-json', module], { encoding: 'utf8' });
  const { Dir: folder } = JSON.parse(stdout || '{}') as { Dir?: string };
  if (folder === undefined) return undefined;
  // Modules carry no permissions.
  const tools = join(folder, 'pkg', 'tool', platform.replace('-', '_'));
  for (const programs of [join(folder, 'bin'), tools]) {
    for (const name of readdirSync(programs)) chmodSync(join(programs, name), 0o755);
  }
  return join(folder, 'bin', executable('go'));
}

function isNewEnough(go: string): boolean {
  const { stdout } = spawnSync(go, ['env', 'GOVERSION'], { encoding: 'utf8' });
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) === GO_VERSION.major && Number(minor) >= GO_VERSION.minor;
}

function runGo(go: string, args: readonly string[], environment: Readonly<Record<string, string>>): boolean {
  console.log(`> ${go} ${args.join(' ')}`);
  return spawnSync(go, args, { stdio: 'inherit', env: { ...process.env, ...environment } }).status === 0;
}

function executable(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}
