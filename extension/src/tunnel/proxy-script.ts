import { api } from '../browser/browser-api.ts';
import { remember } from '../remember.ts';
import type { StandingTunnel } from './leads.ts';
import type { Proxies } from './proxies.ts';

type TicketFor = (url: string, entry: StandingTunnel['tunnel']['proxy']) => Promise<string | undefined>;

/** By what depots say that they want a ticket. */
const REALM = 'Longhaul ticket';
/** Requests remembered that have a ticket. */
const MOST_REQUESTS = 100;

/** Chromium has one script for all requests, which knows hosts alone. */
export class ProxyScript implements Proxies {
  readonly #ticketFor: TicketFor;
  /** The ticket that a request has shown. */
  readonly #shown = new Map<string, string>();
  #isListening = false;

  constructor(ticketFor: TicketFor) {
    this.#ticketFor = ticketFor;
    this.#listen();
  }

  async mayLead(): Promise<boolean> {
    if (!api.proxy) return false;
    this.#listen();
    const { levelOfControl, value } = await api.proxy.settings.get({});
    const isOurs = levelOfControl === 'controlled_by_this_extension';
    return isOurs || (levelOfControl === 'controllable_by_this_extension' && isNoProxy(value?.mode));
  }

  watch(): void {
    // It sees all requests as it is.
  }

  lead(standing: readonly StandingTunnel[]): void {
    if (!api.proxy) return;
    const data = proxyScript(standing);
    // Private windows are not the add-on's business.
    const scope = 'regular_only';
    if (standing.length === 0) void api.proxy.settings.clear({ scope });
    else void api.proxy.settings.set({ value: { mode: 'pac_script', pacScript: { data } }, scope });
  }

  /** An entry depot asks for the ticket; whoever else asks is answered as the browser would. */
  #listen(): void {
    if (this.#isListening || !api.proxy) return;
    try {
      api.webRequest.onAuthRequired.addListener(
        (asked, answer) => {
          if (asked.isProxy) void this.#answerTo(asked).then(answer);
          else answer?.({});
          return undefined;
        },
        { urls: ['https://*/*'] },
        ['asyncBlocking'],
      );
      this.#isListening = true;
    } catch {
      // The user has not allowed it yet.
    }
  }

  async #answerTo({
    url,
    challenger,
    realm,
    requestId,
  }: chrome.webRequest.OnAuthRequiredDetails): Promise<chrome.webRequest.BlockingResponse> {
    const host = challenger.host.replace(/^\[|\]$/g, '');
    const ticket = await this.#ticketFor(url, { host, port: challenger.port }).catch(() => undefined);
    // A depot that asks once more does not take it.
    if (ticket === undefined || this.#shown.get(requestId) === ticket)
      // No user has a password for a depot.
      return realm === REALM ? { cancel: true } : {};
    remember(this.#shown, requestId, ticket, MOST_REQUESTS);
    return { authCredentials: { username: 'ticket', password: ticket } };
  }
}

function isNoProxy(mode: unknown): boolean {
  return mode === 'system' || mode === 'direct';
}

/** Chromium shows a script the host and the port alone of what is encrypted, and goes on directly where a proxy is not there. */
export function proxyScript(standing: readonly StandingTunnel[]): string {
  const proxies = standing.map(({ server, tunnel: { proxy } }) => {
    const host = proxy.host.includes(':') ? `[${proxy.host}]` : proxy.host;
    return [server.slice('https://'.length), `HTTPS ${host}:${proxy.port}; DIRECT`];
  });
  return `var proxies = ${JSON.stringify(Object.fromEntries(proxies))};
function FindProxyForURL(url) {
  var at = /^https:\\/\\/([^\\/:]+|\\[[^\\]]+\\])(?::(\\d+))?\\//.exec(url);
  return (at && proxies[at[1] + ':' + (at[2] || 443)]) || 'DIRECT';
}`;
}
