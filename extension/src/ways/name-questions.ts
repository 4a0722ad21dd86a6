import type { DownloadItem, Suggest } from '../browser/browser-api.ts';
import type { DownloadStart, Downloads } from '../browser/downloads.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { remember } from '../remember.ts';

interface NameQuestionsDependencies {
  readonly addonId: string;
  readonly downloads: Pick<Downloads, 'start'>;
  readonly jobs: JobStore;
  readonly pause: (ms: number) => Promise<void>;
}

/** A name that comes later after the browser had its answer was chosen by the user, in a dialog. */
const PROMPTLESS_MS = 500;
/** More downloads are not named at once. */
const REMEMBERED_NAMES = 100;

/**
 * Chromium asks add-ons for the name of every download. The others' are named at once, as the browser will; those of the
 * add-on's own wait for it: while the question is open, bytes come and the name stays free for the original.
 */
export class NameQuestions {
  readonly #deps: NameQuestionsDependencies;
  /** Starts whose id is not known yet. */
  #starting = 0;
  readonly #own = new Map<number, PromiseWithResolvers<Suggest>>();
  /** Whether others' downloads are named soon after the browser had its answer. */
  readonly #others = new Map<number, PromiseWithResolvers<boolean>>();

  constructor(deps: NameQuestionsDependencies) {
    this.#deps = deps;
  }

  /**
   * The browser asks.
   * @returns whether the answer comes later, which it wants to be told.
   */
  ask(item: DownloadItem, suggest: Suggest): boolean {
    const { addonId, jobs, pause } = this.#deps;
    if (item.byExtensionId !== addonId) {
      const named = Promise.withResolvers<boolean>();
      remember(this.#others, item.id, named, REMEMBERED_NAMES);
      void pause(PROMPTLESS_MS).then(() => named.resolve(false));
      suggest();
      return false;
    }
    if (this.#starting > 0 || this.#own.has(item.id)) {
      this.#questionOf(item.id).resolve(suggest);
      return true;
    }
    // Nobody waits for it any more: the background has slept since it was started.
    void jobs.ofUrl(item.url).then(
      (job) => suggest(job?.name ? { filename: job.name, conflictAction: 'uniquify' } : undefined),
      () => suggest(),
    );
    return true;
  }

  /** The browser has named a download. */
  named(id: number): void {
    this.#others.get(id)?.resolve(true);
  }

  /** Whether the browser names somebody's download without asking the user; waits until that shows. */
  async isUnprompted(id: number): Promise<boolean> {
    return (await this.#others.get(id)?.promise) ?? false;
  }

  /** Starts a download of the add-on's own, whose name is to be given later. */
  async start(start: Omit<DownloadStart, 'name'>): Promise<number> {
    this.#starting += 1;
    try {
      const id = await this.#deps.downloads.start({ ...start, name: '' });
      this.#questionOf(id);
      return id;
    } finally {
      this.#starting -= 1;
    }
  }

  /** Settles when the head of the answer has come, and the browser has asked for the name. */
  async asked(id: number): Promise<void> {
    await this.#questionOf(id).promise;
  }

  /** Names a download of the add-on's own, as soon as the browser asks; empty for the browser's own choice. */
  give(id: number, name: string): void {
    const question = this.#own.get(id);
    this.#own.delete(id);
    void question?.promise.then((suggest) =>
      suggest(name === '' ? undefined : { filename: name, conflictAction: 'uniquify' }),
    );
  }

  #questionOf(id: number): PromiseWithResolvers<Suggest> {
    const question = this.#own.get(id) ?? Promise.withResolvers<Suggest>();
    this.#own.set(id, question);
    return question;
  }
}
