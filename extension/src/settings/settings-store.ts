import type { StorageArea } from '../browser/browser-api.ts';
import { readSettings, type Settings } from './settings.ts';

const KEY = 'settings';

/** The user's settings in the browser's storage. */
export class SettingsStore {
  readonly #area: StorageArea;

  constructor(area: StorageArea) {
    this.#area = area;
  }

  async get(): Promise<Settings> {
    const stored = await this.#area.get(KEY);
    return readSettings(stored[KEY]);
  }

  /** Changes some settings and keeps the others. */
  async change(patch: Partial<Settings>): Promise<Settings> {
    const changed = readSettings({ ...(await this.get()), ...patch });
    await this.#area.set({ [KEY]: changed });
    return changed;
  }

  /** Leaves a site alone, or no longer. */
  async setSiteOff(host: string, off: boolean): Promise<void> {
    const { sitesOff } = await this.get();
    const others = sitesOff.filter((site) => site !== host);
    await this.change({ sitesOff: off ? [...others, host].toSorted() : others });
  }
}
