import type { StorageArea } from '../browser/browser-api.ts';
import type { Job } from './job.ts';

const KEY = 'jobs';

/** The running jobs, kept in the browser's session storage so that they outlive the background. */
export class JobStore {
  readonly #area: StorageArea;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(area: StorageArea) {
    this.#area = area;
  }

  all(): Promise<readonly Job[]> {
    return this.#inTurn(() => this.#read());
  }

  async ofDownload(downloadId: number): Promise<Job | undefined> {
    return (await this.all()).find((job) => job.downloadId === downloadId);
  }

  async ofUrl(url: string): Promise<Job | undefined> {
    return (await this.all()).findLast((job) => job.url === url);
  }

  add(job: Job): Promise<void> {
    return this.#edit((jobs) => [...jobs, job]);
  }

  change(key: string, patch: Partial<Job>): Promise<void> {
    return this.#edit((jobs) => jobs.map((job) => (job.key === key ? { ...job, ...patch } : job)));
  }

  remove(key: string): Promise<void> {
    return this.#edit((jobs) => jobs.filter((job) => job.key !== key));
  }

  #edit(edit: (jobs: readonly Job[]) => readonly Job[]): Promise<void> {
    return this.#inTurn(async () => this.#area.set({ [KEY]: edit(await this.#read()) }));
  }

  /** One after the other: two edits that read the same list would lose one of them. */
  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(action);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #read(): Promise<readonly Job[]> {
    const stored = (await this.#area.get(KEY))[KEY];
    return Array.isArray(stored) ? (stored as Job[]) : [];
  }
}
