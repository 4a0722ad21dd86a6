import type { OriginUrl } from '@longhaul/shared';

/** Origin URLs remembered at once; with tickets that live for a day, some downloads a minute for all that time. */
const MAX_URLS = 10_000;
/** Characters of all of them: the longest URLs have 8 KiB, usual ones a hundred. */
const MAX_URL_CHARS = 4_000_000;

/**
 * Origin URLs that this depot has been told and that fit their ticket, by the ticket's hash of them. Those not used for
 * the longest time are forgotten first.
 */
export class OriginMemory {
  readonly #urls = new Map<string, OriginUrl>();
  #chars = 0;

  recall(urlHash: string): OriginUrl | undefined {
    const url = this.#urls.get(urlHash);
    if (url) this.note(urlHash, url);
    return url;
  }

  note(urlHash: string, url: OriginUrl): void {
    this.#forget(urlHash);
    this.#urls.set(urlHash, url);
    this.#chars += charsOf(url);
    for (const oldest of this.#urls.keys()) {
      if (this.#urls.size <= MAX_URLS && this.#chars <= MAX_URL_CHARS) return;
      this.#forget(oldest);
    }
  }

  #forget(urlHash: string): void {
    const url = this.#urls.get(urlHash);
    if (!url) return;
    this.#urls.delete(urlHash);
    this.#chars -= charsOf(url);
  }
}

function charsOf({ host, path, query }: OriginUrl): number {
  return host.length + path.length + (query?.length ?? 0);
}
