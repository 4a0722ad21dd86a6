import { isOwn, type RequestWatcher, watchRequests } from './requests.ts';

const KEY = 'tunnelSites';

/** Patterns of all https addresses of these sites, and of the names below them. */
export function patternsOf(sites: readonly string[]): readonly string[] {
  return sites.map((site) => `https://${site.includes(':') ? `[${site}]` : namesBelow(site)}/*`);
}

/** A name stands for the names below it, an address for itself. */
function namesBelow(site: string): string {
  return /^[\d.]+$/.test(site) ? site : `*.${site}`;
}

/**
 * Those kept last. Firefox wants every listener at once when it wakes the background: other storage answers
 * too late.
 */
export function keptPatterns(): readonly string[] {
  return (localStorage.getItem(KEY) ?? '').split(' ').filter((pattern) => pattern !== '');
}

export function keepPatterns(patterns: readonly string[]): void {
  localStorage.setItem(KEY, patterns.join(' '));
}

/**
 * Tells of all requests of some addresses, whatever asks for them: scripts, pictures and films, too. Those of
 * the add-on are its own affair.
 */
export class SiteRequests {
  readonly #watcher: RequestWatcher;
  #patterns = '';
  #end: (() => void) | undefined;

  constructor(watcher: RequestWatcher) {
    this.#watcher = {
      asked: (event) => (isOwn(event) ? undefined : watcher.asked(event)),
      answered: (event) => (isOwn(event) ? undefined : watcher.answered(event)),
      failed: (event) => (isOwn(event) ? undefined : watcher.failed(event)),
    };
  }

  /** From now on these alone. */
  watch(patterns: readonly string[]): void {
    if (patterns.join(' ') === this.#patterns) return;
    this.#patterns = patterns.join(' ');
    this.#end?.();
    this.#end = patterns.length > 0 ? watchRequests(this.#watcher, { urls: [...patterns] }, []) : undefined;
  }
}
