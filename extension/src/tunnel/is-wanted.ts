import { type OriginUrl, parseOriginUrl } from '@longhaul/shared';
import { isLeftPrivate } from '../judge/private-host.ts';
import { isLeftForeign } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';
import { isTunnelled } from '../settings/site-rules.ts';
import type { Lead } from './leads.ts';

/** Whether the user wants a tunnel to this server, and has a master who can plan it. */
export function isChosen(server: OriginUrl, settings: Settings): boolean {
  const master = parseOriginUrl(settings.master);
  return master.ok && server.host !== master.value.host && isTunnelled(server, settings);
}

/**
 * Whether a lead to this server is still as the settings allow: the master that it is by is the user's own, and it leads neither to
 * a private host nor over one that the user does not permit (any more).
 */
export function isWanted(server: OriginUrl, lead: Lead, settings: Settings): boolean {
  if (!isChosen(server, settings) || lead.master !== settings.master) return false;
  const isPrivate = isLeftPrivate(server, settings.privateHosts);
  if ('left' in lead) return isPrivate === (lead.left.why === 'private-host');
  return !isPrivate && !isLeftForeign(lead.tunnel.proxy, settings);
}
