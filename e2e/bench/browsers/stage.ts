import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserKind, TestBrowser } from '../../browsers/browser.ts';
import { launchBrowser } from '../../browsers/launch-browser.ts';
import { startWorld, type World } from '../../fixtures/world.ts';
import type { Way } from './browsers-line.ts';

/** Everything over http; everything over https; browsers that ask for every download where to save it. */
export const STAGE_IDS = ['plain', 'secure', 'asking'] as const;
export type StageId = (typeof STAGE_IDS)[number];

/** A world with one browser for each way. */
export interface Stage {
  readonly world: World;
  readonly users: Readonly<Record<Way, TestBrowser>>;
  /** Where users may save what they do not want in their usual folder. */
  readonly otherFolder: string;
  readonly close: () => Promise<void>;
}

/** What a case plays in. */
export interface Scene extends Pick<Stage, 'world' | 'otherFolder'> {
  readonly user: TestBrowser;
  /** Whether the browser has the add-on. */
  readonly isHelped: boolean;
  readonly name: string;
  /** The file's address, and what of it stands behind the origin's name. */
  readonly url: string;
  readonly target: string;
  /** Waits until more than so much of it is on disk. */
  readonly onDisk: (bytes: number) => Promise<void>;
}

/** Starts it: the add-on waits for master and depots as long as it does for users. */
export async function openStage(kind: BrowserKind, id: StageId): Promise<Stage> {
  const world = await startWorld({ secure: id === 'secure', isPatient: false });
  const otherFolder = mkdtempSync(join(tmpdir(), 'longhaul-chosen-'));
  const begun: TestBrowser[] = [];
  const close = async () => {
    await Promise.all(begun.map((browser) => browser.close()));
    await world.close();
    rmSync(otherFolder, { recursive: true, force: true });
  };
  const launch = async (addon: { readonly addonDir?: string }) => {
    const browser = await launchBrowser(kind, {
      ...addon,
      hosts: world.hosts,
      ...(world.ca ? { trustedCa: world.ca } : {}),
      allowInsecureDownloads: true,
      asksWhere: id === 'asking',
    });
    begun.push(browser);
    return browser;
  };
  try {
    const direct = await launch({});
    const longhaul = await launch({ addonDir: await world.buildAddon(kind) });
    return { world, users: { longhaul, direct }, otherFolder, close };
  } catch (failure) {
    await close();
    throw failure;
  }
}
