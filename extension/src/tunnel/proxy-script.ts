import { introductionPort } from '@longhaul/shared';
import { api } from '../browser/browser-api.ts';
import { remember } from '../remember.ts';
import type { StandingTunnel } from './leads.ts';
import type { Introduction, Proxies } from './proxies.ts';
import { usesSystemProxy } from './system-proxy.ts';

type TicketFor = (url: string, entry: StandingTunnel['tunnel']['proxy']) => Promise<string | undefined>;

/** By what depots say that they want a ticket. */
const REALM = 'Longhaul ticket';
/** Requests remembered that have a ticket. */
const MOST_REQUESTS = 100;
/** What an entry depot has for its refusal: it is near. */
const INTRODUCTION_MS = 1_500;

/** A tunnel whose ticket the browser is getting to know. */
interface Introduced extends StandingTunnel {
  /** How often the entry depot has asked for the ticket. */
  questions: number;
}

/** Chromium has one script for all requests, which knows hosts alone. */
export class ProxyScript implements Proxies {
  readonly #ticketFor: TicketFor;
  /** The ticket that a request has shown. */
  readonly #shown = new Map<string, string>();
  /** Tunnels whose tickets the browser is getting to know, by the origin that is asked for meanwhile. */
  readonly #introduced = new Map<string, Introduced>();
  #standing: readonly StandingTunnel[] = [];
  #isListening = false;
  /** What is being found out, for all who want to know. */
  #usesProxy: Promise<boolean> | undefined;

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

  /** A script can name no proxy of the system's, which Chromium does not tell: it would take it from all sites. */
  async takesProxies(): Promise<boolean> {
    const set = await api.proxy?.settings.get({}).catch(() => undefined);
    // Ours has taken it away already, while a tunnel stands.
    if (set?.value?.mode !== 'system') return false;
    this.#usesProxy ??= usesSystemProxy().finally(() => {
      this.#usesProxy = undefined;
    });
    return this.#usesProxy;
  }

  watch(): void {
    // It sees all requests as it is.
  }

  async lead(standing: readonly StandingTunnel[]): Promise<void> {
    this.#standing = standing;
    await this.#setScript();
  }

  /**
   * Asks the entry depot for what it refuses once it has been shown this ticket, which Chromium then shows it
   * by itself: for a download that begins or goes on it asks no add-on, but ends it, and gives up its bytes.
   * The depot asks for the ticket whichever else Chromium has of before.
   */
  async introduce({ server, ...lead }: StandingTunnel): Promise<Introduction> {
    const { hostname, port } = new URL(server);
    const ownPort = introductionPort(lead.tunnel.jobId);
    // There it would be asked of the site.
    if (port === String(ownPort)) return 'failed';
    const origin = `https://${hostname}:${ownPort}`;
    const introduced: Introduced = { ...lead, server: origin, questions: 0 };
    this.#introduced.set(origin, introduced);
    const signal = AbortSignal.timeout(INTRODUCTION_MS);
    try {
      await this.#setScript();
      await fetch(`${origin}/`, { mode: 'no-cors', credentials: 'omit', cache: 'no-store', signal });
    } catch {
      // It is refused.
    }
    this.#introduced.delete(origin);
    // Whoever does not want it any more leads nothing.
    await this.#setScript().catch(() => undefined);
    return introduced.questions === 1 && !signal.aborted ? 'begun' : 'failed';
  }

  async #setScript(): Promise<void> {
    if (!api.proxy) return;
    const introduced = [...this.#introduced.values()];
    // Private windows are not the add-on's business.
    const scope = 'regular_only';
    if (this.#standing.length + introduced.length === 0) return api.proxy.settings.clear({ scope });
    const pacScript = { data: proxyScript(this.#standing, introduced) };
    return api.proxy.settings.set({ value: { mode: 'pac_script', pacScript }, scope });
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
    const entry = { host: challenger.host.replace(/^\[|\]$/g, ''), port: challenger.port };
    const ticket =
      this.#ticketOfIntroduced(url, entry) ?? (await this.#ticketFor(url, entry).catch(() => undefined));
    // A depot that asks once more does not take it.
    if (ticket === undefined || this.#shown.get(requestId) === ticket)
      // No user has a password for a depot.
      return realm === REALM ? { cancel: true } : {};
    remember(this.#shown, requestId, ticket, MOST_REQUESTS);
    return { authCredentials: { username: 'ticket', password: ticket } };
  }

  #ticketOfIntroduced(url: string, { host, port }: StandingTunnel['tunnel']['proxy']): string | undefined {
    const introduced = this.#introduced.get(new URL(url).origin);
    const { proxy, ticket } = introduced?.tunnel ?? {};
    if (!introduced || proxy?.host !== host || proxy.port !== port) return undefined;
    introduced.questions += 1;
    return ticket;
  }
}

function isNoProxy(mode: unknown): boolean {
  return mode === 'system' || mode === 'direct';
}

/**
 * Chromium shows a script the host and the port alone of what is encrypted, and goes on directly where a
 * proxy is not there; what is asked to introduce a tunnel goes nowhere else. The script leads nothing by a
 * ticket that is over, though the background sleeps.
 */
export function proxyScript(
  standing: readonly StandingTunnel[],
  introduced: readonly StandingTunnel[] = [],
): string {
  const leadBy = ({ server, tunnel: { proxy }, untilMs }: StandingTunnel, otherwise: string) => {
    const host = proxy.host.includes(':') ? `[${proxy.host}]` : proxy.host;
    return [server.slice('https://'.length), [`HTTPS ${host}:${proxy.port}${otherwise}`, untilMs]];
  };
  const leads = [
    ...standing.map((one) => leadBy(one, '; DIRECT')),
    ...introduced.map((one) => leadBy(one, '')),
  ];
  return `var leads = ${JSON.stringify(Object.fromEntries(leads))};
function FindProxyForURL(url) {
  var at = /^https:\\/\\/([^\\/:]+|\\[[^\\]]+\\])(?::(\\d+))?\\//.exec(url);
  var lead = at && leads[at[1] + ':' + (at[2] || 443)];
  return lead && Date.now() < lead[1] ? lead[0] : 'DIRECT';
}`;
}
