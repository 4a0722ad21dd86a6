import type { StorageArea } from '../browser/browser-api.ts';
import { Turns } from '../turns.ts';
import type { Job } from './job.ts';

const KEY = 'jobs';
/** Finished jobs that the popup shows, and as many lost ones: older ones are in the browser's own list. */
const KEPT_ENDED = 5;

/** The add-on's jobs, kept in the browser's storage so that they outlive the background, and the browser. */
export class JobStore {
  readonly #area: StorageArea;
  readonly #onChange: (before: readonly Job[], after: readonly Job[]) => void;
  readonly #turns = new Turns();
  /** What the browser had no room for: known for as long as the background lives. */
  #unstored: readonly Job[] | undefined;

  /** @param onChange is told of the jobs before and after each change. */
  constructor(
    area: StorageArea,
    onChange: (before: readonly Job[], after: readonly Job[]) => void = () => undefined,
  ) {
    this.#area = area;
    this.#onChange = onChange;
  }

  all(): Promise<readonly Job[]> {
    return this.#turns.take(() => this.#read());
  }

  async get(key: string): Promise<Job | undefined> {
    return (await this.all()).find((job) => job.key === key);
  }

  /** The job whose download it is, or what stands beside that. */
  async ofDownload(id: number): Promise<Job | undefined> {
    return (await this.all()).findLast(({ downloadId, spare }) =>
      [downloadId, spare?.downloadId].includes(id),
    );
  }

  async ofUrl(url: string): Promise<Job | undefined> {
    return (await this.all()).findLast((job) => job.url === url);
  }

  /** Rejects when the browser has no room for it: a job that nobody remembers must not begin. */
  add(job: Job): Promise<void> {
    return this.#turns.take(async () => {
      const before = await this.#read();
      const kept = withoutOld(before, [...before, job]);
      await this.#store(kept);
      this.#onChange(before, kept);
    });
  }

  /** Changes a job, and gives it as it is then; `undefined` when it is gone. */
  async change(key: string, patch: Partial<Job>): Promise<Job | undefined> {
    let changed: Job | undefined;
    await this.#edit((jobs) =>
      jobs.map((job) => {
        if (job.key !== key) return job;
        changed = { ...job, ...patch };
        return changed;
      }),
    );
    return changed;
  }

  remove(key: string): Promise<void> {
    return this.#edit((jobs) => jobs.filter((job) => job.key !== key));
  }

  /** Forgets the jobs whose files are whole, and those that are lost. */
  removeEnded(): Promise<void> {
    return this.#edit((jobs) => jobs.filter(({ state }) => state !== 'done' && state !== 'lost'));
  }

  /** Without room in storage a job that has begun goes on by what is in memory. */
  #edit(edit: (jobs: readonly Job[]) => readonly Job[]): Promise<void> {
    return this.#turns.take(async () => {
      const before = await this.#read();
      await this.#put(before, edit(before));
    });
  }

  async #put(before: readonly Job[], after: readonly Job[]): Promise<void> {
    const kept = withoutOld(before, after);
    await this.#store(kept).catch(() => {
      this.#unstored = kept;
    });
    this.#onChange(before, kept);
  }

  async #store(jobs: readonly Job[]): Promise<void> {
    await this.#area.set({ [KEY]: jobs });
    this.#unstored = undefined;
  }

  async #read(): Promise<readonly Job[]> {
    if (this.#unstored) return this.#unstored;
    const stored = (await this.#area.get(KEY))[KEY];
    return Array.isArray(stored) ? (stored as Job[]) : [];
  }
}

/** Of those that ended before, the ones that began last are kept: what ends now is told of. */
function withoutOld(before: readonly Job[], jobs: readonly Job[]): readonly Job[] {
  const old = (['done', 'lost'] as const).flatMap((ended) => {
    const known = new Set(before.flatMap(({ state, key }) => (state === ended ? key : [])));
    const endedMs = ({ key, doneAtMs, startedAtMs }: Job) =>
      known.has(key) ? (doneAtMs ?? startedAtMs) : Number.MAX_VALUE;
    return jobs
      .filter(({ state }) => state === ended)
      .toSorted((a, b) => endedMs(b) - endedMs(a))
      .slice(KEPT_ENDED);
  });
  return jobs.filter((job) => !old.includes(job));
}
