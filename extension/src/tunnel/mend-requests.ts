import type { Downloads } from '../browser/downloads.ts';
import type { RequestEvent } from '../browser/requests.ts';
import { FIRST_WAITS_MS } from '../jobs/retry-times.ts';
import { remember } from '../remember.ts';
import type { Tunnels } from './tunnels.ts';

interface MendDependencies {
  readonly tunnels: Pick<Tunnels, 'failed' | 'prepare' | 'viewOf'>;
  readonly downloads: Pick<Downloads, 'get' | 'resume'>;
  /**
   * The status by which a site answers who wants this byte: on the browser's way, with the user's cookies,
   * without a referrer. `undefined` where nobody answers. Never rejects.
   */
  readonly knock: (url: string, atByte: number) => Promise<number | undefined>;
  readonly pause: (ms: number) => Promise<void>;
  /** Opens an address in a tab. */
  readonly open: (tabId: number, url: string) => Promise<void>;
  readonly now: () => number;
}

/** Times that a download is tried without a byte between; its user can do it more often. */
const MOST_TRIES = FIRST_WAITS_MS.length;
/** A proxy wants to know who asks: the site has not answered, whatever Chromium calls it. */
const ASKED_BY_PROXY = 407;
/** Requests remembered. */
const MOST_REQUESTS = 200;
/** So long an address is opened in a tab no second time: a site that is down fails directly, too. */
const REOPEN_MS = 30_000;
/** Pages remembered that were opened again. */
const MOST_PAGES = 100;
/** Downloads remembered. */
const MOST_DOWNLOADS = 100;

/** What broke because its tunnel did is asked for again, which then goes directly. */
export class MendRequests {
  readonly #deps: MendDependencies;
  /** Requests whose answer has begun: what becomes of it is the page's, or the download's. */
  readonly #answered = new Map<string, true>();
  /** When an address was opened again in a tab. */
  readonly #reopenedAtMs = new Map<string, number>();
  /** Tries of a download with so many bytes. */
  readonly #tried = new Map<number, { readonly bytes: number; times: number; isResumed: boolean }>();

  constructor(deps: MendDependencies) {
    this.#deps = deps;
  }

  /** The head of an answer has come. */
  answered({ requestId, statusCode }: RequestEvent): void {
    if (statusCode === ASKED_BY_PROXY) return;
    remember(this.#answered, requestId, true, MOST_REQUESTS);
  }

  /** A request has failed. */
  async failed({ requestId, url, method, type, tabId, error = '' }: RequestEvent): Promise<void> {
    // Who ends it himself wants nothing in its place.
    if (/ABORT|CACHE|BLOCKED/.test(error)) return;
    const isByTunnel = await this.#deps.tunnels.failed(url, /PROXY|TUNNEL/.test(error));
    const isPage = method === 'GET' && type === 'main_frame' && tabId >= 0;
    if (isByTunnel && isPage && !this.#answered.has(requestId) && this.#mayReopen(tabId, url))
      await this.#deps.open(tabId, url).catch(() => undefined);
  }

  #mayReopen(tabId: number, url: string): boolean {
    const page = `${tabId} ${url}`;
    const nowMs = this.#deps.now();
    if (nowMs - (this.#reopenedAtMs.get(page) ?? Number.NEGATIVE_INFINITY) < REOPEN_MS) return false;
    remember(this.#reopenedAtMs, page, nowMs, MOST_PAGES);
    return true;
  }

  /**
   * A download may have been interrupted: what comes through a tunnel goes on from the bytes that it has. The
   * site is asked for the next one before, since Chromium gives up all of them where it does not give that.
   * Where there are none, or the add-on cannot ask as the browser does, with a referrer or a container's
   * cookies, a refusal says little, and one resumption shows what the site says to that.
   */
  async follow(downloadId: number): Promise<void> {
    const { downloads, tunnels, knock, pause } = this.#deps;
    const download = await downloads.get(downloadId);
    if (download?.state !== 'interrupted' || download.paused || !download.canResume) return;
    if (!/^(NETWORK|SERVER)/.test(download.error ?? '')) return;
    const { finalUrl, isContained, referrer } = download;
    // Nobody asks for a tunnel when Chromium resumes.
    await tunnels.prepare(finalUrl);
    if ((await tunnels.viewOf(finalUrl)) === undefined) return;
    const before = this.#tried.get(downloadId);
    // After a failed resumption Firefox says 0.
    const bytes = download.bytesReceived || (before?.bytes ?? 0);
    const tried = before?.bytes === bytes ? before : { bytes, times: 0, isResumed: false };
    tried.times += 1;
    if (tried.times > MOST_TRIES) return;
    remember(this.#tried, downloadId, tried, MOST_DOWNLOADS);
    await tunnels.failed(finalUrl, false);
    const status = await knock(finalUrl, bytes);
    const isUnsure = !bytes || isContained || referrer;
    if (status === 206 || (status !== undefined && isUnsure && !tried.isResumed)) {
      tried.isResumed = true;
      await downloads.resume(downloadId).catch(() => undefined);
    }
    if (status !== undefined) return;
    await pause(FIRST_WAITS_MS[tried.times] ?? 0);
    await this.follow(downloadId);
  }
}
