import { say } from '../texts/say.ts';
import { byId, make } from './dom.ts';

/** Lists the sites that are switched off, each with a button to remove it. */
export function showSites(sites: readonly string[], remove: (host: string) => Promise<void>): void {
  const entries = sites.map((host) => {
    const action = say('optionsRemove');
    const button = make('button', '', action);
    button.type = 'button';
    button.setAttribute('aria-label', say('actionOf', { action, name: host }));
    button.addEventListener('click', () => void remove(host));
    return make('li', '', make('span', '', host), button);
  });
  byId('sites', HTMLElement).replaceChildren(...entries);
  byId('no-sites', HTMLElement).hidden = sites.length > 0;
}
