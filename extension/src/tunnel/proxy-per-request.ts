import { api } from '../browser/browser-api.ts';
import { isOwn } from '../browser/requests.ts';
import { withoutFragment } from '../url-fragment.ts';
import type { StandingTunnel } from './leads.ts';
import type { Introduction, Proxies } from './proxies.ts';

type WayFor = (url: string) => Promise<StandingTunnel['tunnel'] | undefined>;

/** Firefox's own words for a proxy that the user has set. */
const OWN_PROXIES = new Set(['manual', 'autoConfig', 'autoDetect']);

interface ProxyRequest {
  readonly url: string;
  /** Who asks. */
  readonly originUrl?: string | undefined;
}

interface FirefoxProxies {
  readonly onRequest: {
    addListener(listener: (request: ProxyRequest) => unknown, filter: object): void;
    removeListener(listener: unknown): void;
  };
  readonly settings: { get(details: object): Promise<{ readonly value: { readonly proxyType?: string } }> };
}

/** Firefox asks for a proxy for each request. */
export class ProxyPerRequest implements Proxies {
  readonly #listener: (request: ProxyRequest) => Promise<unknown>;
  #patterns = '';

  /** @param asBrowser addresses that the add-on asks itself, on the way by which the browser would */
  constructor(wayFor: WayFor, asBrowser: ReadonlySet<string> = new Set()) {
    this.#listener = async (request) => {
      // What it asks of masters and depots itself waits for no tunnel, whose depot it may be asking.
      if (isOwn(request) && !asBrowser.has(withoutFragment(request.url))) return undefined;
      const tunnel = await wayFor(request.url).catch(() => undefined);
      // Nothing said is what the user has set.
      if (!tunnel) return undefined;
      const { proxy, ticket, jobId } = tunnel;
      const led = {
        type: 'https',
        ...proxy,
        proxyAuthorizationHeader: `Longhaul ${ticket}`,
        // A connection by one ticket serves nothing else.
        connectionIsolationKey: jobId,
      };
      return [led, { type: 'direct' }];
    };
  }

  async mayLead(): Promise<boolean> {
    const proxies = firefoxProxies();
    const set = await proxies?.settings.get({}).catch(() => undefined);
    return proxies !== undefined && !OWN_PROXIES.has(set?.value.proxyType ?? '');
  }

  async takesProxies(): Promise<boolean> {
    // What is not led goes as the user has set it.
    return false;
  }

  watch(patterns: readonly string[]): void {
    const proxies = firefoxProxies();
    // With its permission the listener is gone, too.
    const wanted = proxies ? patterns.join(' ') : '';
    if (wanted === this.#patterns) return;
    this.#patterns = wanted;
    proxies?.onRequest.removeListener(this.#listener);
    if (wanted) proxies?.onRequest.addListener(this.#listener, { urls: patterns });
  }

  async lead(): Promise<void> {
    // Each request asks.
  }

  async introduce(): Promise<Introduction> {
    return 'needless';
  }
}

function firefoxProxies(): FirefoxProxies | undefined {
  return (api as unknown as { readonly proxy?: FirefoxProxies }).proxy;
}
