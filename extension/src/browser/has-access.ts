import { api } from './browser-api.ts';
import { isChromium } from './target.ts';

/** Whether the user lets the add-on reach all of these addresses: he may have granted single sites, or none. */
export async function hasAccess(urls: readonly string[]): Promise<boolean> {
  const origins = urls.flatMap((text) => {
    const url = URL.parse(text);
    // Grants are for hosts, whatever the port.
    return url ? [`${url.protocol}//${url.hostname}/*`] : [];
  });
  return api.permissions.contains({ origins });
}

/** Chromium gives it with the add-on, Firefox when the user chooses the first site for a tunnel. */
const PROXY_ACCESS: chrome.permissions.Permissions = { permissions: ['proxy'] };
export const isProxyAccessGiven: boolean = isChromium;

/** Whether the add-on may set proxies. */
export async function hasProxyAccess(): Promise<boolean> {
  return isProxyAccessGiven || api.permissions.contains(PROXY_ACCESS);
}

/** Has the browser ask the user, within his click or choice; false where he refuses. */
export async function requestProxyAccess(): Promise<boolean> {
  return isProxyAccessGiven || api.permissions.request(PROXY_ACCESS).catch(() => false);
}
