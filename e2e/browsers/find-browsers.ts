import { readFileSync, realpathSync, statSync } from 'node:fs';
import { chromium } from '@playwright/test';
import { candidatesOnPath, isExecutable } from '../programs/find-program.ts';
import type { BrowserKind } from './browser.ts';

interface Whereabouts {
  /** Environment variable that names the executable and overrules the search. */
  readonly variable: string;
  /** Names looked up on the PATH, best first. */
  readonly names: readonly string[];
  /** Where installers put it when it is not on the PATH. */
  readonly paths: readonly string[];
}

// Chrome with Google's brand is not listed: it no longer loads an unpacked add-on from the command line.
const WHEREABOUTS: Readonly<Record<BrowserKind, Whereabouts>> = {
  chromium: {
    variable: 'LONGHAUL_CHROMIUM',
    names: ['chromium', 'chromium-browser'],
    paths: ['/Applications/Chromium.app/Contents/MacOS/Chromium'],
  },
  firefox: {
    variable: 'LONGHAUL_FIREFOX',
    names: ['firefox-esr', 'firefox'],
    paths: [
      '/Applications/Firefox.app/Contents/MacOS/firefox',
      'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
    ],
  },
};

/**
 * Finds the executable of a browser that can load the add-on.
 * @returns its path, or `undefined` when there is none.
 * @throws {Error} when the environment variable of the browser names no executable file.
 */
export function findBrowser(kind: BrowserKind): string | undefined {
  const { variable, names, paths } = WHEREABOUTS[kind];
  const chosen = process.env[variable];
  if (chosen !== undefined && chosen !== '') {
    if (!isExecutable(chosen)) throw new Error(`${variable} is '${chosen}', which is not an executable file`);
    return chosen;
  }
  const candidates = [...names.flatMap((name) => candidatesOnPath(name)), ...paths];
  if (kind === 'chromium') candidates.push(chromium.executablePath());
  return candidates.find((path) => isExecutable(path) && !isSnap(path));
}

/** Finds the executable of a browser, or throws an `Error` that says how to get it. */
export function requireBrowser(kind: BrowserKind): string {
  const path = findBrowser(kind);
  if (path === undefined) {
    throw new Error(
      `${kind} was not found: run 'node e2e/tools/install.ts', or set ${WHEREABOUTS[kind].variable}`,
    );
  }
  return path;
}

/** A snap sees another /tmp and another home, so it cannot use our profile; the package may also be a mere stub. */
function isSnap(path: string): boolean {
  const target = realpathSync(path);
  if (target.startsWith('/snap/') || target.endsWith('/snap')) return true;
  return statSync(target).size < 10_000 && readFileSync(target, 'latin1').includes('/snap/bin/');
}
