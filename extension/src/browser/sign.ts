import { api } from './browser-api.ts';
import { isChromium } from './target.ts';

/** What the add-on's button and the system's notices show. */
export interface Sign {
  /** A few letters on the button; empty for none. */
  badge(text: string, isTrouble: boolean, title: string): Promise<void>;
  /** One notice without a sound, where the browser knows such. One with the same id takes its place. */
  notice(id: string, title: string, message: string): Promise<void>;
}

/** The colours of the pages: badges know no scheme of the system's. */
const CALM = '#0b6e6e';
const TROUBLE = '#a32020';

export const browserSign: Sign = {
  badge: async (text, isTrouble, title) => {
    await api.action.setBadgeText({ text });
    await api.action.setBadgeBackgroundColor({ color: isTrouble ? TROUBLE : CALM });
    await api.action.setBadgeTextColor({ color: '#ffffff' });
    await api.action.setTitle({ title });
  },
  notice: async (id, title, message) => {
    const options = { type: 'basic', iconUrl: api.runtime.getURL('icon-128.png'), title, message } as const;
    // Firefox refuses options that it does not know.
    await api.notifications.create(id, isChromium ? { ...options, silent: true } : options);
  },
};
