import type { RequestDetails, StorageArea } from '../browser/browser-api.ts';
import { withoutFragment } from '../url-fragment.ts';

const KEY = 'posted';
/** How long the answer to a form may take to become a download. */
const REMEMBERED_MS = 10 * 60_000;
/** More are not under way at once. */
const REMEMBERED_REQUESTS = 100;

interface PostedUrl {
  readonly url: string;
  readonly atMs: number;
}

/** What a download does not tell about its request: the method, and the page where the user was. */
export class RecentRequests {
  readonly #area: StorageArea;
  readonly #now: () => number;
  readonly #pages = new Map<string, string>();
  readonly #posted: Promise<Map<string, number>>;

  constructor(area: StorageArea, now: () => number = Date.now) {
    this.#area = area;
    this.#now = now;
    this.#posted = this.#load();
  }

  /** Notes the request of a page or frame. */
  async note(url: string, method: string, page: string): Promise<void> {
    const key = withoutFragment(url);
    this.#pages.delete(key);
    this.#pages.set(key, page);
    dropOldest(this.#pages);
    const posted = await this.#posted;
    const changed =
      method === 'GET' || method === 'HEAD' ? posted.delete(key) : !!posted.set(key, this.#now());
    if (changed) await this.#save(posted);
  }

  /** Whether this URL was last asked with a method that must not be repeated as GET. */
  async wasPosted(url: string): Promise<boolean> {
    const atMs = (await this.#posted).get(withoutFragment(url));
    return atMs !== undefined && this.#now() - atMs < REMEMBERED_MS;
  }

  /** The page that asked for this URL; empty when it is not known. */
  pageOf(url: string): string {
    return this.#pages.get(withoutFragment(url)) ?? '';
  }

  // The answer to a form may come after the background has been put to sleep.
  async #load(): Promise<Map<string, number>> {
    const stored = (await this.#area.get(KEY))[KEY];
    const list = Array.isArray(stored) ? (stored as PostedUrl[]) : [];
    return new Map(list.map(({ url, atMs }) => [url, atMs]));
  }

  async #save(posted: Map<string, number>): Promise<void> {
    dropOldest(posted);
    const list: PostedUrl[] = [...posted].map(([url, atMs]) => ({ url, atMs }));
    await this.#area.set({ [KEY]: list });
  }
}

/** The page that made a request, as each browser tells it. */
export function pageOfRequest(details: RequestDetails & { readonly originUrl?: string }): string {
  return details.initiator ?? details.originUrl ?? '';
}

function dropOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= REMEMBERED_REQUESTS) return;
    map.delete(key);
  }
}
