import { HEADERS, isRelayTarget, originHref, originTarget, parseGetPath } from '@longhaul/shared';
import type { DownloadStart } from '../browser/downloads.ts';
import type { RequestEvent } from '../browser/requests.ts';
import { parseUrl } from '../parse-url.ts';
import { remember } from '../remember.ts';
import { directStart } from '../ways/direct-start.ts';

interface RescueDependencies {
  /** The master that requests are led to now; empty while none are. */
  readonly master: () => Promise<string>;
  readonly masterIsDown: () => Promise<void>;
  readonly depotIsSilent: (location: string) => Promise<void>;
  /** Downloads the file directly, and takes the page of the failure away again. */
  readonly downloadInstead: (
    start: DownloadStart,
    failed: { readonly tabId: number; readonly url: string },
  ) => Promise<void>;
}

interface Led {
  readonly originUrl: string;
  /** What the origin offers the file as, as far as that is known. */
  readonly name: string;
  /** The depot's address that it was led to last. */
  readonly depot?: string;
}

/** More are not under way at once. */
const REMEMBERED_REQUESTS = 100;
/** From here on an answer is a refusal. */
const FIRST_REFUSAL = 400;

/**
 * Requests that were led to the master and end in nothing: the file is downloaded directly, as if nobody had
 * led them. A master that does not answer leads no further one, nor does one whose depot does not.
 */
export class Rescue {
  readonly #deps: RescueDependencies;
  /** Requests that the master leads on. */
  readonly #led = new Map<string, Led>();

  constructor(deps: RescueDependencies) {
    this.#deps = deps;
  }

  /** A request begins, or follows a redirect. */
  async asked({ requestId, url }: RequestEvent): Promise<void> {
    const origin = await this.#originAt(url);
    const led = this.#led.get(requestId);
    if (origin !== undefined) this.led(requestId, origin);
    else if (led && isAtDepot(url)) this.#led.set(requestId, { ...led, depot: url });
    // It was sent back: where the origin leads it on to is the origin's business.
    else if (led && isAtOrigin(url, led.originUrl)) this.#led.delete(requestId);
  }

  /**
   * A request for this address of an origin's is led to a depot. `name`: what the origin offers it as, where
   * that is known.
   */
  led(requestId: string, originUrl: string, name = ''): void {
    remember(this.#led, requestId, { originUrl, name }, REMEMBERED_REQUESTS);
  }

  /**
   * The head of an answer has come that is no redirect. A file comes from depots alone, who say so: what else
   * answers, in the place of the master or of a depot, is a network's own page.
   */
  async answered(event: RequestEvent): Promise<void> {
    const { statusCode = 0 } = event;
    const isFine = statusCode < FIRST_REFUSAL;
    if (isFine && isOfDepot(event)) this.#led.delete(event.requestId);
    else await this.#rescue(event, isFine || statusCode >= 500);
  }

  /** A request has ended without an answer. */
  async failed(event: RequestEvent): Promise<void> {
    // Who ends it himself wants nothing in its place, and what has become a download is told as ended, too.
    if (/ABORT/.test(event.error ?? '')) this.#led.delete(event.requestId);
    else await this.#rescue(event, true);
  }

  async #rescue(event: RequestEvent, isSevere: boolean): Promise<void> {
    const { masterIsDown, depotIsSilent, downloadInstead } = this.#deps;
    const atMaster = await this.#originAt(event.url);
    const led = this.#led.get(event.requestId);
    const origin = atMaster ?? led?.originUrl;
    this.#led.delete(event.requestId);
    // The add-on's own downloads have no tab, and whoever started them looks after them.
    if (origin === undefined || event.tabId < 0) return;
    if (atMaster !== undefined && isSevere) await masterIsDown();
    if (atMaster === undefined && isAtOrigin(event.url, origin)) return;
    // A block page in a depot's place would be met by each further request.
    const depot = isAtDepot(event.url) ? event.url : led?.depot;
    if (depot && !isOfDepot(event)) await depotIsSilent(depot);
    const start = directStart(origin, event.originUrl ?? '', led?.name ?? '');
    await downloadInstead(start, { tabId: event.tabId, url: event.url });
  }

  /** The origin's address that the master is asked for; `undefined` when this is no such request. */
  async #originAt(url: string): Promise<string | undefined> {
    const master = await this.#deps.master();
    if (master === '' || !url.startsWith(`${master}/get/`)) return undefined;
    const asked = parseGetPath(url.slice(master.length).split('#', 1)[0] ?? '');
    return asked.ok ? originHref(asked.value.url) : asLed(url.slice(master.length));
  }
}

/**
 * The address that a rule has led by its text alone, whatever its length: the master refuses what it does not
 * read as one.
 */
function asLed(target: string): string | undefined {
  const [, scheme, rest] = /^\/get\/(https?)\/([^/@]+\/.*)$/.exec(target) ?? [];
  return rest && `${scheme}://${rest}`;
}

/** Whether this is an address at a depot, wherever that has the file from. */
export function isAtDepot(url: string): boolean {
  const depot = parseUrl(url);
  return depot !== undefined && isRelayTarget(originTarget(depot));
}

/** Whether a depot itself has answered. */
function isOfDepot({ url, responseHeaders = [] }: RequestEvent): boolean {
  return isAtDepot(url) && responseHeaders.some(({ name }) => name.toLowerCase() === HEADERS.depot);
}

/** Whether this is at the server of this origin's address; on one machine with it there may be a depot. */
function isAtOrigin(url: string, originUrl: string): boolean {
  return !isAtDepot(url) && URL.parse(url)?.host === URL.parse(originUrl)?.host;
}
