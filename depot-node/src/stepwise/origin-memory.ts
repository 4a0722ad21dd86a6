import { domainOf, type OriginUrl } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';

/** Origin URLs remembered at once; with tickets that live for a week, one download a minute for all that time. */
const MAX_URLS = 10_000;
/** Characters of all of them: the longest URLs have 8 KiB, usual ones a hundred. */
const MAX_URL_CHARS = 4_000_000;

/**
 * Origin URLs that this depot has been told and that fit their ticket, by the ticket's hash of them. Of the domain that
 * has most of them those not used for the longest time are forgotten first.
 */
export class OriginMemory {
  readonly #urls = new FairMap<OriginUrl>(MAX_URLS, {
    most: MAX_URL_CHARS,
    weigh: (_, url) => charsOf(url),
  });

  recall(urlHash: string): OriginUrl | undefined {
    return this.#urls.get(urlHash);
  }

  note(urlHash: string, url: OriginUrl): void {
    this.#urls.set(urlHash, url, domainOf(url.host));
  }
}

function charsOf({ host, path, query }: OriginUrl): number {
  return host.length + path.length + (query?.length ?? 0);
}
