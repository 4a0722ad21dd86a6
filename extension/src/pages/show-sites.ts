import { byId, make } from './dom.ts';

/** Lists the sites that are switched off, each with a button to remove it. */
export function showSites(sites: readonly string[], remove: (host: string) => Promise<void>): void {
  const entries = sites.map((host) => {
    const button = make('button', '', 'Remove');
    button.type = 'button';
    button.setAttribute('aria-label', `Remove ${host}`);
    button.addEventListener('click', () => void remove(host));
    return make('li', '', make('span', '', host), button);
  });
  byId('sites', HTMLElement).replaceChildren(...entries);
  byId('no-sites', HTMLElement).hidden = sites.length > 0;
}
