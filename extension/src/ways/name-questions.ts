import type { DownloadItem, Suggest } from '../browser/browser-api.ts';
import type { Download } from '../browser/download.ts';
import type { DownloadStart, Downloads } from '../browser/downloads.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { remember } from '../remember.ts';

interface NameQuestionsDependencies {
  readonly addonId: string;
  readonly downloads: Pick<Downloads, 'get' | 'start'>;
  readonly jobs: JobStore;
  /** Whether the browser is to ask from now on; twice the same changes nothing. */
  readonly listen: (isOn: boolean) => void;
  readonly pause: (ms: number) => Promise<void>;
}

/** A name that comes later after the browser told of a download was chosen by the user, in a dialog. */
const PROMPTLESS_MS = 500;
/** More downloads are not named at once. */
const REMEMBERED_NAMES = 100;

/**
 * Chromium asks add-ons for the name of every download. Those of the add-on's own wait for it: while the
 * question is open, bytes come and the name stays free for the original. It is asked only as long as one of
 * them has no name: whatever an add-on answers takes the names away that others have given their own
 * downloads.
 */
export class NameQuestions {
  readonly #deps: NameQuestionsDependencies;
  /** Starts whose id is not known yet. */
  #starting = 0;
  /** Those started whose name is still to be given. */
  readonly #nameless = new Set<number>();
  readonly #own = new Map<number, PromiseWithResolvers<Suggest>>();
  /** Questions that came during a start, and may be about what that starts. */
  readonly #early: (readonly [DownloadItem, Suggest])[] = [];
  /** Whether downloads are named soon after the browser told of them. */
  readonly #soon = new Map<number, PromiseWithResolvers<boolean>>();

  constructor(deps: NameQuestionsDependencies) {
    this.#deps = deps;
    // The browser would go on asking for an earlier life of the background. Who is not asked any more holds no name up.
    deps.listen(true);
    deps.listen(false);
  }

  /**
   * The browser tells of a download, and when it starts of all that its list has. Resolves with one that has
   * just begun when it has a name, and says who has started it, or the user is asked. What has ended
   * meanwhile, by itself or in the browser's dialog, is as it began.
   */
  async created({ id, ...begun }: Download): Promise<Download | undefined> {
    if (begun.state !== 'in_progress') return undefined;
    const { downloads, pause } = this.#deps;
    const named = Promise.withResolvers<boolean>();
    remember(this.#soon, id, named, REMEMBERED_NAMES);
    void pause(PROMPTLESS_MS).then(() => named.resolve(false));
    await named.promise;
    return { ...begun, ...(await downloads.get(id)), id, state: begun.state };
  }

  /**
   * The browser asks.
   * @returns whether the answer comes later, which it wants to be told.
   */
  ask(item: DownloadItem, suggest: Suggest): boolean {
    const { addonId, jobs } = this.#deps;
    if (item.byExtensionId !== addonId) return false;
    if (this.#own.has(item.id)) this.#questionOf(item.id).resolve(suggest);
    else if (this.#starting > 0) this.#early.push([item, suggest]);
    // It was named before the browser asked, or goes by the name that it was started with.
    else
      void jobs.ofUrl(item.url).then(
        (job) => suggest(job?.name ? { filename: job.name, conflictAction: 'uniquify' } : undefined),
        () => suggest(),
      );
    return true;
  }

  /** The browser has named a download. */
  named(id: number): void {
    this.#soon.get(id)?.resolve(true);
  }

  /** Whether the browser names a download without asking the user; waits until that shows. */
  async isUnprompted(id: number): Promise<boolean> {
    return (await this.#soon.get(id)?.promise) ?? false;
  }

  /**
   * Starts a download of the add-on's own, whose name is to be given later. The one that it is started with
   * counts where nobody is asked.
   */
  async start(start: DownloadStart): Promise<number> {
    this.#starting += 1;
    this.#listen();
    try {
      const id = await this.#deps.downloads.start(start);
      this.#questionOf(id);
      this.#nameless.add(id);
      return id;
    } finally {
      this.#starting -= 1;
      this.#listen();
      const early = this.#early.splice(0);
      for (const [item, suggest] of early) this.ask(item, suggest);
    }
  }

  /** Settles when the head of the answer has come, and the browser has asked for the name. */
  async asked(id: number): Promise<void> {
    await this.#questionOf(id).promise;
  }

  /**
   * Names a download of the add-on's own; empty for the browser's own choice. What the browser has not asked
   * for yet, it need not any more.
   */
  give(id: number, name: string): void {
    const question = this.#own.get(id);
    this.#own.delete(id);
    const unasked = Promise.resolve(undefined);
    void Promise.race([question?.promise ?? unasked, unasked]).then((suggest) => {
      suggest?.(name === '' ? undefined : { filename: name, conflictAction: 'uniquify' });
      this.#nameless.delete(id);
      this.#listen();
    });
  }

  #listen(): void {
    this.#deps.listen(this.#starting + this.#nameless.size > 0);
  }

  #questionOf(id: number): PromiseWithResolvers<Suggest> {
    const question = this.#own.get(id) ?? Promise.withResolvers<Suggest>();
    this.#own.set(id, question);
    return question;
  }
}
