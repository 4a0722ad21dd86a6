import type { StorageArea } from '../browser/browser-api.ts';
import { Turns } from '../turns.ts';
import {
  isRecord,
  type ReadSettings,
  readSettings,
  readStored,
  SETTINGS_VERSION,
  type Settings,
} from './settings.ts';
import { type SiteUse, withSite } from './site-rules.ts';

const KEY = 'settings';
/** What was found damaged is kept here, as it was, when it is first written over. */
const DAMAGED_KEY = 'settingsDamaged';

/** Why settings could not be stored: the browser has no room for them. What was stored before stands. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
}

/** The user's settings in the browser's storage. */
export class SettingsStore {
  readonly #area: StorageArea;
  readonly #changed: (settings: Settings) => void;
  readonly #turns = new Turns();

  /** @param changed is told of the settings after each change. */
  constructor(area: StorageArea, changed: (settings: Settings) => void = () => undefined) {
    this.#area = area;
    this.#changed = changed;
  }

  async get(): Promise<Settings> {
    return (await this.read()).settings;
  }

  /** The settings, and what is wrong with those that are stored. */
  async read(): Promise<ReadSettings> {
    return readStored((await this.#area.get(KEY))[KEY]);
  }

  /**
   * Changes some settings and keeps the others, also those for which a value is given that is none, with what
   * a newer version has stored beside them.
   * @throws NoRoomError when they cannot be stored; nothing is changed then
   */
  change(patch: Partial<Settings>): Promise<Settings> {
    return this.#edit(() => patch);
  }

  /** Says what the user wants of a site and the names below it; `undefined`: what the other rules say. */
  async setSite(host: string, use: SiteUse | undefined): Promise<void> {
    await this.#edit((settings) => withSite(settings, host, use));
  }

  #edit(edit: (settings: Settings) => Partial<Settings>): Promise<Settings> {
    return this.#turns.take(async () => {
      const stored: unknown = (await this.#area.get(KEY))[KEY];
      const { settings, problem } = readStored(stored);
      const changed = readSettings({ ...edit(settings) }, undefined, settings);
      const others = isRecord(stored) ? stored : {};
      const version = problem === 'newer' ? others.version : SETTINGS_VERSION;
      await this.#area
        .set({
          [KEY]: { ...others, ...changed, version },
          ...(problem === 'damaged' ? { [DAMAGED_KEY]: stored } : {}),
        })
        .catch((cause: unknown) => {
          throw new NoRoomError('The browser has no room for the settings: nothing was changed.', { cause });
        });
      this.#changed(changed);
      return changed;
    });
  }
}
