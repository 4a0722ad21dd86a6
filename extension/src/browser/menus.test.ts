import { expect, it, vi } from 'vitest';

type Click = (info: object, tab?: object) => void;

/** What is called back for clicks on an entry of the menu. */
async function clicks(): Promise<{ click: Click; calls: unknown[][] }> {
  let click: Click = () => undefined;
  const onClicked = {
    addListener: (listener: Click) => {
      click = listener;
    },
  };
  vi.stubGlobal('chrome', { contextMenus: { onClicked } });
  const { onMenu } = await import('./menus.ts');
  const calls: unknown[][] = [];
  onMenu((...told) => calls.push(told));
  return { click: (info, tab) => click(info, tab), calls };
}

it('tells what an entry was called on, in which page, and whether in a container', async () => {
  const { click, calls } = await clicks();
  const info = {
    pageUrl: 'https://a.example/p',
    linkUrl: 'https://a.example/l',
    srcUrl: 'https://a.example/s',
  };
  click({ ...info, menuItemId: 'through' }, { cookieStoreId: 'firefox-default' });
  click({ ...info, menuItemId: 'directly-media', frameUrl: 'https://a.example/f' }, {});
  click({ ...info, menuItemId: 'through-page' }, { cookieStoreId: 'firefox-container-1' });
  click({ ...info, menuItemId: 'through' });
  expect(calls).toEqual([
    ['through', 'https://a.example/l', 'https://a.example/p', false],
    ['directly', 'https://a.example/s', 'https://a.example/f', false],
    ['through', 'https://a.example/p', 'https://a.example/p', true],
    ['through', 'https://a.example/l', 'https://a.example/p', false],
  ]);
});
