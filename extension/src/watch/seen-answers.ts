import { isSecret } from '@longhaul/shared';
import type { HeaderLine, RequestEvent } from '../browser/requests.ts';
import { isChromium } from '../browser/target.ts';
import { remember } from '../remember.ts';
import { withoutFragment } from '../url-fragment.ts';

/** An answer as the browser itself saw it, whatever became of it. */
export interface SeenAnswer {
  /** Of what was asked first: what a form led to by redirects is the answer to that form, too. */
  readonly method: string;
  readonly status: number;
  readonly headers: Headers;
  /** Whether a tab asked, as for a link. Firefox has none for "Save link as" and for add-ons. */
  readonly isFromTab: boolean;
  /** The page that asked; empty when it is not known. */
  readonly page: string;
  /** The server's address; `undefined` when it is not known, as behind a proxy. */
  readonly address: string | undefined;
  /**
   * Whether it is out of the browser's cache and nobody knows from where; or what led to it, where that
   * counts (`first`).
   */
  readonly isCached?: boolean;
  /** Whether it, or what led to it, came through a SOCKS proxy; only Firefox tells of one. */
  readonly isBySocks?: boolean;
  /**
   * What was asked for first, where that led to a secret address; the secret one itself where it was linked,
   * or nobody saw what led to it. `undefined` where the address is no secret.
   */
  readonly first?:
    | (Pick<SeenAnswer, 'address'> & { readonly url: string; readonly headers?: Headers })
    | undefined;
  /** When its head came; `undefined` when the browser does not say. */
  readonly atMs?: number | undefined;
}

interface Exchange {
  first: RequestEvent;
  /** Settles with the answer that is no redirect; `undefined` when none came. */
  readonly answer: PromiseWithResolvers<SeenAnswer | undefined>;
}

type Answer = SeenAnswer | undefined;

/** More are not under way at once. */
const REMEMBERED_EXCHANGES = 200;
/** Firefox tells of a download up to a tenth of a second before it tells of the request that led to it. */
const SETTLING_MS = 200;
/** An answer that is not told by then is not going to be. */
const ANSWER_PATIENCE_MS = 1_000;

/**
 * What the browser asked for pages and downloads, and what came of it. Kept in memory: an answer becomes a download
 * long before the background, which it has woken, sleeps again.
 */
export class SeenAnswers {
  readonly #exchanges = new Map<string, Exchange>();
  /** The newest request for each URL. */
  readonly #newest = new Map<string, Exchange>();
  readonly #expected = new Map<string, (answer: Promise<Answer>) => void>();
  readonly #pause: (ms: number) => Promise<void>;

  constructor(pause: (ms: number) => Promise<void>) {
    this.#pause = pause;
  }

  /** A request begins, or follows a redirect. */
  asked(event: RequestEvent): void {
    const { requestId, url, tabId } = event;
    const known = this.#exchanges.get(requestId);
    const exchange = known ?? { first: event, answer: Promise.withResolvers<Answer>() };
    remember(this.#exchanges, requestId, exchange, REMEMBERED_EXCHANGES);
    remember(this.#newest, withoutFragment(url), exchange, REMEMBERED_EXCHANGES);
    if (isChromium || known || tabId >= 0) return;
    this.#expected.get(withoutFragment(url))?.(exchange.answer.promise);
    this.#expected.delete(withoutFragment(url));
  }

  /** The answer to a request is a redirect: only now it is known from where. What all of them say counts. */
  redirected(event: RequestEvent): void {
    const exchange = this.#exchanges.get(event.requestId);
    if (!exchange) return;
    const { first } = exchange;
    const responseHeaders = [first, event].flatMap((one) => one.responseHeaders ?? []);
    exchange.first = { ...(first.url === event.url ? event : first), responseHeaders };
  }

  /** The head of an answer has come that is no redirect. */
  answered(event: RequestEvent): void {
    // The background may have slept when the request began.
    if (!this.#exchanges.has(event.requestId)) this.asked(event);
    this.#exchanges.get(event.requestId)?.answer.resolve(this.toAnswer(event));
  }

  /** A request has ended without an answer. */
  failed({ requestId }: RequestEvent): void {
    this.#exchanges.get(requestId)?.answer.resolve(undefined);
  }

  /**
   * The answer to the newest request for this URL, waited for a moment; `undefined` when none comes. A request that is
   * still open hides the older ones: the answer to a form must not be taken for the page that had it.
   */
  async answerTo(url: string): Promise<Answer> {
    await this.#pause(SETTLING_MS);
    const exchange = this.#newest.get(withoutFragment(url));
    if (!exchange) return undefined;
    return Promise.race([exchange.answer.promise, this.#pause(ANSWER_PATIENCE_MS).then(() => undefined)]);
  }

  /**
   * The answer to the add-on's own next request for this URL, wherever redirects lead it. Firefox shows these requests;
   * Chromium does not.
   */
  async nextOwnAnswer(url: string): Promise<Answer> {
    if (isChromium) return undefined;
    const { promise, resolve } = Promise.withResolvers<Promise<Answer>>();
    const key = withoutFragment(url);
    const before = this.#expected.get(key);
    // Two of the same address at once come from the same place.
    this.#expected.set(key, (answer) => {
      before?.(answer);
      resolve(answer);
    });
    return promise;
  }

  /** The answer in an event of the browser. */
  toAnswer(event: RequestEvent): SeenAnswer {
    const first = this.#exchanges.get(event.requestId)?.first ?? event;
    const told = isSecret(event.url) ? first : event;
    return {
      method: first.method,
      status: event.statusCode ?? 0,
      headers: toHeaders(event.responseHeaders ?? []),
      isFromTab: event.tabId >= 0,
      page: event.initiator ?? event.originUrl ?? '',
      address: addressOf(event),
      isBySocks: !isChromium && [first, event].some(({ proxyInfo }) => proxyInfo?.type?.startsWith('socks')),
      isCached: [told, event].some((one) => one.fromCache === true && !addressOf(one)),
      first: isSecret(event.url)
        ? { ...first, address: addressOf(first), headers: toHeaders(first.responseHeaders ?? []) }
        : undefined,
      atMs: event.timeStamp,
    };
  }
}

function addressOf({ proxyInfo, ip }: RequestEvent): string | undefined {
  return proxyInfo ? undefined : (ip ?? undefined);
}

function toHeaders(lines: readonly HeaderLine[]): Headers {
  const headers = new Headers();
  for (const { name, value = '' } of lines) {
    try {
      headers.append(name, value);
    } catch {
      // A header that is none cannot be compared either.
    }
  }
  return headers;
}
