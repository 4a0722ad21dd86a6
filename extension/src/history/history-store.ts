import type { StorageArea } from '../browser/browser-api.ts';
import type { Job } from '../jobs/job.ts';
import { Turns } from '../turns.ts';
import { type History, NO_HISTORY, withJob } from './history.ts';

const KEY = 'history';

/** What the add-on brought, kept in this browser and nowhere else. */
export class HistoryStore {
  readonly #area: StorageArea;
  readonly #turns = new Turns();

  constructor(area: StorageArea) {
    this.#area = area;
  }

  async get(): Promise<History> {
    const stored = (await this.#area.get(KEY))[KEY] as Partial<History> | null | undefined;
    return Array.isArray(stored?.downloads)
      ? { downloads: stored.downloads, totals: stored.totals }
      : NO_HISTORY;
  }

  /** Adds a job that is whole. */
  add(job: Job): Promise<void> {
    return this.#inTurn(async () => withJob(await this.get(), job));
  }

  /** In its turn as well: what is being added would come back. */
  erase(): Promise<void> {
    return this.#inTurn(async () => null);
  }

  #inTurn(edit: () => Promise<History | null>): Promise<void> {
    return this.#turns.take(async () => this.#area.set({ [KEY]: await edit() }));
  }
}
