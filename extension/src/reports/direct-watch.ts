import type { FeedbackRequest } from '@longhaul/shared';
import type { StorageArea } from '../browser/browser-api.ts';
import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import { Turns } from '../turns.ts';

const KEY = 'watchedDirect';
/** Downloads that run beside each other; more are not watched. */
const MOST_WATCHED = 20;
/** So much of its time a download may have run beside others of these: they share the user's line. */
const MOST_BESIDE = 0.2;

/** Between two looks at whether the machine has slept. */
const LOOK_MS = 5_000;
/** Where a look, or the end, comes so much later than the look before, the machine has slept. */
const LATE_LOOK_MS = 15_000;

/** A download of the browser's own that a plan called the best way. */
interface Watched {
  readonly downloadId: number;
  readonly jobId: string;
  /** Whose plan it was. */
  readonly master: string;
  readonly startedAtMs: number;
  /** How long others ran beside it that have ended since, added up; left out while none has. */
  readonly besideMs?: number;
  /** When it was looked at last; left out where nobody looks. */
  readonly lookedAtMs?: number;
  /** Whether the machine has slept since it began: its time says nothing. */
  readonly hasSlept?: boolean;
}

interface SeenDirect {
  readonly master: string;
  readonly report: FeedbackRequest;
}

export interface DirectWatchDependencies {
  readonly area: StorageArea;
  readonly downloads: Pick<Downloads, 'get'>;
  readonly now: () => number;
  /** Asks for a call of `look` at this time; left out where the background does not stay awake for that. */
  readonly wakeAt?: (timeMs: number) => void;
}

/**
 * Measures downloads that a master wants to be direct, as far as they come in one go, and hardly beside each
 * other, while the machine is awake. Kept until the browser ends.
 */
export class DirectWatch {
  readonly #deps: DirectWatchDependencies;
  readonly #turns = new Turns();

  constructor(deps: DirectWatchDependencies) {
    this.#deps = deps;
  }

  /** The browser's own download has begun, and goes on directly by the plan of this id that this master gave. */
  async begin(
    { id, startedAtMs }: Pick<Download, 'id' | 'startedAtMs'>,
    jobId: string,
    master: string,
  ): Promise<void> {
    // An answer that is held is no download yet, and has no id.
    if (startedAtMs === undefined || id < 0) return;
    const looked = this.#deps.wakeAt ? { lookedAtMs: this.#deps.now() } : {};
    const watched = { downloadId: id, jobId, master, startedAtMs, ...looked };
    await this.#edit((all) => [...all, watched].slice(-MOST_WATCHED));
    // A small one may have ended while it was planned: nothing would tell so any more.
    if (hasEnded(await this.#deps.downloads.get(id)))
      await this.#edit((all) => all.filter(({ downloadId }) => downloadId !== id));
    else this.#wakeForLook();
  }

  /** The time may have come that was asked for. */
  async look(): Promise<void> {
    const { downloads, now, wakeAt } = this.#deps;
    if (!wakeAt) return;
    let isWatching = false;
    await this.#edit(async (all) => {
      const found = await Promise.all(all.map(({ downloadId }) => downloads.get(downloadId)));
      // Of what the user has taken out of the list nobody tells the end.
      const left = all.filter((_one, index) => found[index] !== undefined);
      const looked = left.map((one) => lookedAt(one, now()));
      // Of what the machine has slept through a look tells nothing new.
      isWatching = looked.some(({ hasSlept }) => !hasSlept);
      return all.length > 0 ? looked : all;
    });
    if (isWatching) this.#wakeForLook();
  }

  #wakeForLook(): void {
    this.#deps.wakeAt?.(this.#deps.now() + LOOK_MS);
  }

  /** Looks at a download that has changed; what is to be told, and to which master, when it is whole. */
  async follow(download: Download | undefined): Promise<SeenDirect | undefined> {
    if (!download || !hasEnded(download)) return undefined;
    let nowMs = 0;
    let found: Watched | undefined;
    await this.#edit((all) => {
      const ended = all.find(({ downloadId }) => downloadId === download.id);
      if (!ended) return all;
      // A look may have come before in turn.
      nowMs = this.#deps.now();
      const others = all.filter((one) => one !== ended);
      found = others.reduce((one, other) => ranBeside(one, other, nowMs), lookedAt(ended, nowMs));
      return others.map((one) => ranBeside(one, ended, nowMs));
    });
    const bytes = download.totalBytes ?? 0;
    // One that was paused or broken off says nothing of the way, as one does through which the machine slept.
    if (!found || found.hasSlept || download.state !== 'complete' || bytes === 0) return undefined;
    const { jobId, master, startedAtMs, besideMs = 0 } = found;
    const seconds = (nowMs - startedAtMs) / 1_000;
    if (seconds <= 0 || besideMs > MOST_BESIDE * 1_000 * seconds) return undefined;
    return { master, report: { jobId, verdict: 'worked', measured: { bytes, seconds } } };
  }

  #edit(edit: (all: readonly Watched[]) => readonly Watched[] | Promise<readonly Watched[]>): Promise<void> {
    const { area } = this.#deps;
    return this.#turns.take(async () => {
      const stored = (await area.get(KEY))[KEY];
      const before = Array.isArray(stored) ? (stored as Watched[]) : [];
      const after = await edit(before);
      if (after !== before) await area.set({ [KEY]: after });
    });
  }
}

/** Whether a download does not run any more, or rests. */
function hasEnded(download: Download | undefined): boolean {
  return download?.state !== 'in_progress' || download.paused;
}

/** One download as it is known after this look, where anybody looks. */
function lookedAt(one: Watched, nowMs: number): Watched {
  if (one.lookedAtMs === undefined) return one;
  // A clock that was set back tells no time either.
  const isLate = nowMs < one.lookedAtMs || nowMs - one.lookedAtMs > LATE_LOOK_MS;
  return { ...one, lookedAtMs: nowMs, hasSlept: isLate || one.hasSlept === true };
}

/** One download with how long it has run beside another one until now. */
function ranBeside(one: Watched, other: Watched, nowMs: number): Watched {
  const togetherMs = Math.max(0, nowMs - Math.max(one.startedAtMs, other.startedAtMs));
  return { ...one, besideMs: (one.besideMs ?? 0) + togetherMs };
}
