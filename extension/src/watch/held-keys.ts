import { parseUrl } from '../parse-url.ts';
import { remember } from '../remember.ts';
import type { HeldKey } from '../settings/settings.ts';

/** A download begins by then after the click that asked for it; servers may think for a while. */
const CLICK_COUNTS_MS = 10_000;
/** Pages that were clicked on with a key at once. */
const REMEMBERED_PAGES = 100;

/**
 * On which pages the user clicked while he held a key, as their own script tells. Kept in memory: it is of
 * use for seconds.
 */
export class HeldKeys {
  readonly #clicks = new Map<string, { readonly keys: readonly HeldKey[]; readonly atMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Somebody has clicked on this page, and held these keys. */
  clicked(page: string, keys: readonly HeldKey[]): void {
    remember(this.#clicks, hostOf(page), { keys, atMs: this.#now() }, REMEMBERED_PAGES);
  }

  /** Whether what begins now on this page was asked for with that key. */
  isHeld(page: string, key: HeldKey): boolean {
    const click = this.#clicks.get(hostOf(page));
    return click !== undefined && click.keys.includes(key) && this.#now() - click.atMs <= CLICK_COUNTS_MS;
  }
}

function hostOf(page: string): string {
  return parseUrl(page)?.host ?? '';
}
