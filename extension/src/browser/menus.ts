import { api } from './browser-api.ts';

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

/** Calls back with the entry's id, what it was called on, and the page of that. */
export function onMenu(callback: (id: string, url: string, page: string) => void): void {
  api.contextMenus.onClicked.addListener(({ menuItemId, linkUrl, srcUrl, pageUrl, frameUrl }) => {
    const [, id = '', kind] = /^(.*?)(-media|-page)?$/.exec(String(menuItemId)) ?? [];
    const page = frameUrl ?? pageUrl ?? '';
    const url = kind === '-media' ? srcUrl : kind === '-page' ? page : linkUrl;
    callback(id, url ?? '', page);
  });
}
