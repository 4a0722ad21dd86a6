import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserKind } from './browser.ts';

/** The folders and the environment of one browser: nothing of the user's own profile, cache or proxies. */
export interface BrowserHome {
  readonly profileDir: string;
  readonly downloadsDir: string;
  readonly env: Record<string, string>;
  /** Removes all folders. */
  remove(): Promise<void>;
}

/** Creates an empty profile and an empty downloads folder under the system's temporary folder. */
export async function createBrowserHome(kind: BrowserKind): Promise<BrowserHome> {
  const root = await mkdtemp(join(await realpath(tmpdir()), `longhaul-${kind}-`));
  const profileDir = join(root, 'profile');
  const downloadsDir = join(root, 'downloads');
  await Promise.all([mkdir(profileDir), mkdir(downloadsDir)]);
  return {
    profileDir,
    downloadsDir,
    env: browserEnvironment(root),
    // A browser's helper processes may still write for a moment after it has ended.
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}

function browserEnvironment(home: string): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    // A proxy of the machine would get the requests for host names that exist only in a test.
    if (value !== undefined && !/_proxy$/i.test(name)) env[name] = value;
  }
  // Elsewhere the home folder is not found through the environment alone.
  if (process.platform === 'linux') env.HOME = home;
  return env;
}
