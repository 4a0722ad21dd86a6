import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BrowserKind, LaunchOptions, TestBrowser } from './browser.ts';
import { launchChromium } from './chromium.ts';
import { launchFirefox } from './firefox.ts';

/**
 * Starts a browser without a window, with a fresh profile.
 * @throws {Error} when it is not installed, does not start, or does not load the add-on.
 */
export async function launchBrowser(kind: BrowserKind, options: LaunchOptions): Promise<TestBrowser> {
  const addonDir = options.addonDir === undefined ? undefined : await findAddon(options.addonDir);
  const complete = { ...options, ...(addonDir === undefined ? {} : { addonDir }) };
  return kind === 'chromium' ? launchChromium(complete) : launchFirefox(complete);
}

/** Says at once what the browsers say late or not at all: that the add-on has not been built. */
async function findAddon(folder: string): Promise<string> {
  const absolute = resolve(folder);
  await access(join(absolute, 'manifest.json')).catch((cause: unknown) => {
    throw new Error(`there is no add-on in '${absolute}': has it been built?`, { cause });
  });
  return absolute;
}
