import { askMaster } from '../ask/ask-master.ts';
import { greetDepot } from '../ask/probe-file.ts';
import { api } from '../browser/browser-api.ts';
import type { Downloads } from '../browser/downloads.ts';
import { keepPatterns, keptPatterns, patternsOf, SiteRequests } from '../browser/site-requests.ts';
import { isChromium } from '../browser/target.ts';
import type { Settings } from '../settings/settings.ts';
import { withoutFragment } from '../url-fragment.ts';
import { MendRequests } from './mend-requests.ts';
import type { Proxies } from './proxies.ts';
import { ProxyPerRequest } from './proxy-per-request.ts';
import { ProxyScript } from './proxy-script.ts';
import { Tunnels } from './tunnels.ts';

interface StartDependencies {
  readonly downloads: Downloads;
  /** As for downloads: switched off until the user has consented. */
  readonly settings: () => Promise<Settings>;
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Asks for a call of `Tunnels.wake` at this time. */
  readonly wakeAt: (timeMs: number) => void;
}

interface StartedTunnels {
  readonly tunnels: Tunnels;
  readonly mend: MendRequests;
  /** The settings have changed. */
  readonly look: () => Promise<void>;
}

/** A site answers by then, or does not. */
const KNOCK_MS = 10_000;

/** Where Firefox is knocking now: those requests take the tunnel, too. */
const knockedAt = new Set<string>();

/** See `MendRequests`. */
async function knock(url: string, atByte: number): Promise<number | undefined> {
  if (!isChromium) knockedAt.add(withoutFragment(url));
  const signal = AbortSignal.timeout(KNOCK_MS);
  const headers = { range: `bytes=${atByte}-${atByte}` };
  const asks = { credentials: 'include', redirect: 'manual', cache: 'no-store', headers, signal } as const;
  const answer = await fetch(url, asks).catch(() => undefined);
  // All may be behind it.
  void answer?.body?.cancel();
  if (!isChromium) knockedAt.delete(withoutFragment(url));
  return answer?.status;
}

/** Builds what leads sites through tunnels, and registers its listeners; to be called while the background starts. */
export function startTunnels({ downloads, settings, now, pause, wakeAt }: StartDependencies): StartedTunnels {
  const proxies: Proxies = isChromium
    ? new ProxyScript((url, entry) => tunnels.ticketFor(url, entry))
    : new ProxyPerRequest((url) => tunnels.wayFor(url), knockedAt);
  const tunnels: Tunnels = new Tunnels({
    area: api.storage.session,
    settings,
    mayLead: () => proxies.mayLead(),
    takesProxies: () => proxies.takesProxies(),
    askMaster,
    greetDepot,
    deadline: (ms) => AbortSignal.timeout(ms),
    now,
    pause,
    wakeAt,
    isOneServerPerDepot: isChromium,
    changed: (standing) => proxies.lead(standing),
    introduce: (tunnel) => proxies.introduce(tunnel),
  });
  const mend = new MendRequests({
    tunnels,
    downloads,
    now,
    pause,
    knock,
    open: async (tabId, url) => {
      await api.tabs.update(tabId, { url });
    },
  });
  const requests = new SiteRequests({
    // Chromium asks for no proxy: a tunnel is planned with the first request, for those after it.
    asked: ({ url }) => (isChromium ? void tunnels.prepare(url) : undefined),
    answered: (event) => {
      mend.answered(event);
      if (!isChromium && event.proxyInfo && event.fromCache !== true)
        void tunnels.answered(event.url, event.proxyInfo);
    },
    failed: (event) => void mend.failed(event),
  });
  const watch = (patterns: readonly string[]): void => {
    proxies.watch(patterns);
    requests.watch(patterns);
  };
  if (!isChromium) watch(keptPatterns());
  return {
    tunnels,
    mend,
    look: async () => {
      const { enabled, sitesTunnel } = await settings();
      const patterns = patternsOf(enabled ? sitesTunnel : []);
      if (!isChromium) keepPatterns(patterns);
      watch(patterns);
      await tunnels.look();
    },
  };
}
