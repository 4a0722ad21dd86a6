import { api, type Tab } from '../browser/browser-api.ts';

/**
 * The address of the page that the user is looking at. Where the popup has a tab of its own, as on phones, it is the
 * web page that was in front last.
 */
export async function activeTabUrl(): Promise<string> {
  const tabs = await api.tabs.query({ currentWindow: true });
  const active = tabs.find((tab) => tab.active);
  if (active && isWebPage(active)) return active.url ?? '';
  if (active?.url?.startsWith(api.runtime.getURL('')) !== true) return '';
  const pages = tabs.filter(isWebPage).toSorted((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
  return pages[0]?.url ?? '';
}

function isWebPage({ url }: Tab): boolean {
  return url !== undefined && /^https?:/.test(url);
}
