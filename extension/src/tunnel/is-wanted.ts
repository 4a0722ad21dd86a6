import type { OriginUrl } from '@longhaul/shared';
import { isLeftPrivate } from '../judge/private-host.ts';
import type { Left } from '../judge/why-left.ts';
import { isLeftForeign } from '../judge/why-unfit.ts';
import { parseUrl } from '../parse-url.ts';
import type { Settings } from '../settings/settings.ts';
import { isTunnelled } from '../settings/site-rules.ts';
import type { Tunnel } from './plan-tunnel.ts';

/** What came of asking a master. */
export interface Answer {
  readonly master: string;
  readonly way: Tunnel | Left;
}

/** Whether the user wants a tunnel to this server, and has a master who can plan it. */
export function isChosen(server: OriginUrl, settings: Settings): boolean {
  const master = parseUrl(settings.master);
  return master !== undefined && server.host !== master.host && isTunnelled(server, settings);
}

/**
 * Whether a way to this server is still as the settings allow: the master who was asked is the user's own,
 * and it leads neither to a private host nor over one that the user does not permit (any more).
 */
export function isWanted(server: OriginUrl, { master, way }: Answer, settings: Settings): boolean {
  if (!isChosen(server, settings) || master !== settings.master) return false;
  const isPrivate = isLeftPrivate(server, settings.privateHosts);
  if ('why' in way) return isPrivate === (way.why === 'private-host');
  return !isPrivate && !isLeftForeign(way.proxy, settings);
}
