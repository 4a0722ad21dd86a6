import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchOptions } from './browser.ts';
import type { BrowserHome } from './browser-home.ts';

const ALLOW = 1;

/** Writes the preferences that Chromium finds when it starts with a new profile. */
export async function writeChromiumPreferences(home: BrowserHome, options: LaunchOptions): Promise<void> {
  const preferences = {
    download: { default_directory: home.downloadsDir, prompt_for_download: options.asksWhere ?? false },
    profile: {
      default_content_setting_values: {
        // Otherwise a second download from one page waits for an answer that nobody can give.
        automatic_downloads: ALLOW,
        ...(options.allowInsecureDownloads ? { mixed_script: ALLOW } : {}),
      },
    },
    safebrowsing: { enabled: false },
  };
  await mkdir(join(home.profileDir, 'Default'));
  await writeFile(join(home.profileDir, 'Default', 'Preferences'), JSON.stringify(preferences));
}

/** The switches with which Chromium starts, besides those of Playwright. */
export function chromiumArguments(options: LaunchOptions): string[] {
  const rules = [
    ...options.hosts.map((host) => `MAP ${host} 127.0.0.1`),
    ...(options.ipv6Hosts ?? []).map((host) => `MAP ${host} [::1]`),
    'MAP * ~NOTFOUND',
    'EXCLUDE localhost',
    'EXCLUDE 127.0.0.1',
    'EXCLUDE ::1',
  ];
  const args = [
    ...(options.nameServer === undefined ? [`--host-resolver-rules=${rules.join(', ')}`] : []),
    '--disable-gpu',
    '--disable-quic',
    '--disable-sync',
    ...(options.chromiumArgs ?? []),
  ];
  if (options.trustedCa) {
    // Chromium has no list of authorities that one start can add to. It compares this hash with every certificate of
    // a server's chain, and takes such a chain without further checks.
    args.push(`--ignore-certificate-errors-spki-list=${options.trustedCa.spkiSha256Base64}`);
  }
  if (options.addonDir !== undefined) {
    const dirs = [options.addonDir, ...(options.otherAddonDirs ?? [])].join(',');
    args.push(`--disable-extensions-except=${dirs}`, `--load-extension=${dirs}`);
  }
  return args;
}
