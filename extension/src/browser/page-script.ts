import { Turns } from '../turns.ts';
import { api } from './browser-api.ts';

const ID = 'held-key';

const turns = new Turns();

/**
 * Has pages that open from now on tell of clicks with a key held, or no longer. Only while the user has
 * chosen a key: a script in every page is more than the add-on needs otherwise. One after the other: what was
 * asked for last counts.
 */
export function watchClicks(isOn: boolean): Promise<void> {
  return turns.take(() => watch(isOn));
}

async function watch(isOn: boolean): Promise<void> {
  const isThere = (await api.scripting.getRegisteredContentScripts({ ids: [ID] })).length > 0;
  if (isThere === isOn) return;
  if (!isOn) return api.scripting.unregisterContentScripts({ ids: [ID] });
  await api.scripting.registerContentScripts([
    {
      id: ID,
      js: ['held-key.js'],
      matches: ['http://*/*', 'https://*/*'],
      allFrames: true,
      runAt: 'document_start',
    },
  ]);
}
