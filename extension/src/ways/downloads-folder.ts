import type { StorageArea } from '../browser/browser-api.ts';
import type { Downloads } from '../browser/downloads.ts';
import { drop } from '../jobs/own-download.ts';

interface DownloadsFolderDependencies {
  readonly downloads: Downloads;
  readonly area: StorageArea;
  readonly now: () => number;
}

const KEY = 'downloadsFolder';
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
  #lookedUpMs = Number.NEGATIVE_INFINITY;

  constructor(deps: DownloadsFolderDependencies) {
    this.#deps = deps;
  }

  /** Whether this is the folder of downloads that nobody was asked about. */
  async is(folder: string): Promise<boolean> {
    const { area, now } = this.#deps;
    if (folder !== '' && (await area.get(KEY))[KEY] === folder) return true;
    if (now() - this.#lookedUpMs < LOOK_UP_PAUSE_MS) return false;
    this.#lookedUpMs = now();
    const found = await this.#lookUp();
    await area.set({ [KEY]: found });
    return folder !== '' && found === folder;
  }

  async #lookUp(): Promise<string> {
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
