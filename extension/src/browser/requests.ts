import { api } from './browser-api.ts';

/** What both browsers tell of a request, as far as it is used here; each event has a part of it. */
export interface RequestEvent {
  readonly requestId: string;
  readonly url: string;
  readonly method: string;
  readonly tabId: number;
  /** `main_frame` for what is shown in the tab itself. */
  readonly type?: string;
  /** The page that asked, as Chromium tells it. */
  readonly initiator?: string | undefined;
  /** The page that asked, as Firefox tells it. */
  readonly originUrl?: string | undefined;
  readonly statusCode?: number;
  /** When it happened. */
  readonly timeStamp?: number;
  /** Where the answer came from; behind a proxy the proxy's address. */
  readonly ip?: string | null | undefined;
  /** Out of the browser's cache: nobody was asked, whatever it says of a proxy. */
  readonly fromCache?: boolean;
  /** Firefox alone tells of a proxy. */
  readonly proxyInfo?: { readonly type?: string; readonly host?: string; readonly port?: number } | null;
  readonly responseHeaders?: readonly HeaderLine[] | undefined;
  /** The browser's word for a failure. */
  readonly error?: string;
}

export interface HeaderLine {
  readonly name: string;
  readonly value?: string | undefined;
}

/** Whether the add-on itself has asked. */
export function isOwn({ initiator, originUrl }: Pick<RequestEvent, 'initiator' | 'originUrl'>): boolean {
  const asker = initiator ?? originUrl ?? '';
  // Chromium tells the origin alone.
  return `${asker}/`.startsWith(api.runtime.getURL(''));
}

/** Who is told of requests. */
export interface RequestWatcher {
  asked(event: RequestEvent): void;
  answered(event: RequestEvent): void;
  failed(event: RequestEvent): void;
}

/** What can become a download: pages, frames, and in Chromium links with a `download` attribute. */
const WATCHED: chrome.webRequest.RequestFilter = {
  urls: ['http://*/*', 'https://*/*'],
  types: ['main_frame', 'sub_frame', 'other'] as chrome.webRequest.ResourceType[],
};

/**
 * Registers for requests, in both browsers; to be called while the background starts, if it is to be woken by them.
 * @returns what ends it
 */
export function watchRequests(
  watcher: RequestWatcher,
  filter = WATCHED,
  shown: readonly Shown[] = headerOptions(),
): () => void {
  const { onBeforeRequest, onResponseStarted, onErrorOccurred } = api.webRequest;
  const asked = (details: RequestEvent): undefined => {
    watcher.asked(details);
    return undefined;
  };
  const answered = (details: RequestEvent): void => watcher.answered(details);
  const failed = (details: RequestEvent): void => watcher.failed(details);
  onBeforeRequest.addListener(asked, filter);
  onResponseStarted.addListener(answered, filter, [...shown]);
  onErrorOccurred.addListener(failed, filter);
  return () => {
    onBeforeRequest.removeListener(asked);
    onResponseStarted.removeListener(answered);
    onErrorOccurred.removeListener(failed);
  };
}

/** Registers for answers that are redirects, in both browsers; as above, while the background starts. */
export function watchRedirects(redirected: (event: RequestEvent) => void): void {
  api.webRequest.onBeforeRedirect.addListener(redirected, WATCHED, ['responseHeaders']);
}

type Shown = 'responseHeaders' | 'extraHeaders';

/** Chromium shows `Set-Cookie` only to those who ask for it; Firefox refuses what it does not know, and shows it. */
function headerOptions(): readonly Shown[] {
  const known = Object.keys(api.webRequest.OnResponseStartedOptions ?? {});
  return known.includes('EXTRA_HEADERS') ? ['responseHeaders', 'extraHeaders'] : ['responseHeaders'];
}
