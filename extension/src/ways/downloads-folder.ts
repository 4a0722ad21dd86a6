import type { StorageArea } from '../browser/browser-api.ts';
import type { Downloads } from '../browser/downloads.ts';
import { drop } from '../jobs/own-download.ts';

interface DownloadsFolderDependencies {
  readonly downloads: Downloads;
  /** Remembers the folder. */
  readonly area: StorageArea;
  /** Remembers until the browser ends when it was looked up. */
  readonly session: StorageArea;
  readonly now: () => number;
}

const KEY = 'downloadsFolder';
const LOOKED_UP_KEY = 'downloadsFolderLookedUpMs';
/** A port that Firefox never connects to: what is downloaded from there ends before it begins. */
const NOWHERE = 'http://127.0.0.1:1/';
/** The folder is looked up again at most this often: who chooses a folder each time would see it flash up. */
const LOOK_UP_PAUSE_MS = 10 * 60_000;

/**
 * Firefox: where the add-on's own downloads go. No download tells whether its folder was chosen in a dialog, so only
 * those in the usual folder are taken. Which one that is shows in a download of the add-on's own.
 */
export class DownloadsFolder {
  readonly #deps: DownloadsFolderDependencies;
  /** While it is looked up: downloads that begin together wait for the same answer. */
  #lookingUp: Promise<unknown> | undefined;

  constructor(deps: DownloadsFolderDependencies) {
    this.#deps = deps;
  }

  /** Whether this is the folder of downloads that nobody was asked about. */
  async is(folder: string): Promise<boolean> {
    if (folder === '' || (await this.#known()) === folder) return folder !== '';
    this.#lookingUp ??= this.#lookUp().finally(() => {
      this.#lookingUp = undefined;
    });
    await this.#lookingUp;
    return (await this.#known()) === folder;
  }

  async #known(): Promise<unknown> {
    return (await this.#deps.area.get(KEY))[KEY];
  }

  async #lookUp(): Promise<void> {
    const { area, session, now } = this.#deps;
    const lookedUpMs = (await session.get(LOOKED_UP_KEY))[LOOKED_UP_KEY];
    // A clock that was set back tells no time.
    if (typeof lookedUpMs === 'number' && Math.abs(now() - lookedUpMs) < LOOK_UP_PAUSE_MS) return;
    await session.set({ [LOOKED_UP_KEY]: now() });
    await area.set({ [KEY]: await this.#seen() });
  }

  /** The folder of a download that asks nobody; empty where the browser tells none. */
  async #seen(): Promise<string> {
    const { downloads } = this.#deps;
    try {
      const id = await downloads.start({ url: NOWHERE, name: 'longhaul' });
      const started = await downloads.get(id);
      await drop(downloads, id);
      return started?.folder ?? '';
    } catch {
      return '';
    }
  }
}
