import type { StorageArea } from '../browser/browser-api.ts';
import type { Left, Outcome, WhyLeft } from '../judge/why-left.ts';

/** A download that was left to the browser. */
export interface LeftDownload extends Left {
  readonly name: string;
}

const KEY = 'lastLeft';

/** Reasons that the user has chosen or that say nothing about a download of interest. */
const UNTOLD = [
  'off',
  'no-master',
  'incognito',
  'not-http',
  'own',
  'other-addon',
  'not-running',
] as const satisfies readonly WhyLeft[];
export type UntoldWhy = (typeof UNTOLD)[number];

/** Remembers, for the popup, why the last download was left to the browser. */
export class LastLeft {
  readonly #area: StorageArea;

  constructor(area: StorageArea) {
    this.#area = area;
  }

  async note(name: string, outcome: Outcome): Promise<void> {
    if (outcome === 'taken') return this.#area.set({ [KEY]: null });
    if (!(UNTOLD as readonly WhyLeft[]).includes(outcome.why))
      await this.#area.set({ [KEY]: { name, ...outcome } });
  }

  async get(): Promise<LeftDownload | undefined> {
    const stored = (await this.#area.get(KEY))[KEY] as LeftDownload | null | undefined;
    return stored ?? undefined;
  }
}
