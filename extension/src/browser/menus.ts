import { api } from './browser-api.ts';
import { isContainer } from './download.ts';

/** What stands in the menu of a link, a picture, a film or a page. */
export interface MenuEntry {
  readonly id: string;
  readonly title: string;
}

const WEB = ['http://*/*', 'https://*/*'];

/** Puts the entries into the menus; to be called once for each version and each start of the browser. */
export async function putMenus(entries: readonly MenuEntry[]): Promise<void> {
  await api.contextMenus.removeAll();
  for (const { id, title } of entries) {
    const entry = { id, title };
    api.contextMenus.create({ ...entry, contexts: ['link'], targetUrlPatterns: WEB });
    api.contextMenus.create({
      ...entry,
      id: `${id}-media`,
      contexts: ['image', 'video', 'audio'],
      targetUrlPatterns: WEB,
    });
    api.contextMenus.create({ ...entry, id: `${id}-page`, contexts: ['page'], documentUrlPatterns: WEB });
  }
}

/** Firefox names where a tab has its cookies, also to add-ons that may not see these. */
type Tab = chrome.tabs.Tab & { readonly cookieStoreId?: string };

/**
 * Calls back with the entry's id, what it was called on, the page of that, and whether its tab is one of a
 * container.
 */
export function onMenu(
  callback: (id: string, url: string, page: string, isContained: boolean) => void,
): void {
  api.contextMenus.onClicked.addListener((info, tab?: Tab) => {
    const { menuItemId, linkUrl, srcUrl, pageUrl, frameUrl } = info;
    const [, id = '', kind] = /^(.*?)(-media|-page)?$/.exec(String(menuItemId)) ?? [];
    const page = frameUrl ?? pageUrl ?? '';
    const url = kind === '-media' ? srcUrl : kind === '-page' ? page : linkUrl;
    callback(id, url ?? '', page, isContainer(tab?.cookieStoreId));
  });
}
