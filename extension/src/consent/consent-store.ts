import type { StorageArea } from '../browser/browser-api.ts';
import { buildDefaults } from '../settings/build-defaults.ts';

const KEY = 'consent';

/** Whether the user has been told what the add-on does, and wants it. Until then nothing is led elsewhere. */
export class ConsentStore {
  readonly #area: StorageArea;

  constructor(area: StorageArea) {
    this.#area = area;
  }

  async isGiven(): Promise<boolean> {
    return (await this.#area.get(KEY))[KEY] === true || buildDefaults.consented === true;
  }

  give(): Promise<void> {
    return this.#area.set({ [KEY]: true });
  }
}
