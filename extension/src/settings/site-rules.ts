import { canonicalHost, isAddressLiteral, type OriginUrl } from '@longhaul/shared';

/** What the user wants of a site: of its downloads, or that all of it goes through a tunnel. */
export const SITE_USES = ['always', 'never', 'tunnel'] as const;
export type SiteUse = (typeof SITE_USES)[number];

/** The sites that the user has named; each stands for itself and all names below it. */
export interface SiteRules {
  readonly sitesAlways: readonly string[];
  readonly sitesOff: readonly string[];
  readonly sitesTunnel: readonly string[];
}

/** A site as people type it, as the host that it is stored by; `undefined` when it is none. */
export function parseSite(text: string): string | undefined {
  const typed = text.trim().replace(/^\*\./, '');
  const host = canonicalHost(typed);
  return typed !== '' && host.ok ? host.value : undefined;
}

/**
 * What the user wants of a download that has to do with these hosts: its page, what was asked for, where that
 * led. For each host the longest name that covers it counts; where the same site stands in several lists, or
 * hosts differ, never wins.
 */
export function siteUse(hosts: readonly string[], rules: SiteRules): SiteUse | undefined {
  const uses = hosts.map((host) => {
    // The first of equals counts.
    const lists = [
      { use: 'never', length: coveringLength(host, rules.sitesOff) },
      { use: 'tunnel', length: coveringLength(host, rules.sitesTunnel) },
      { use: 'always', length: coveringLength(host, rules.sitesAlways) },
    ] as const;
    const longest = lists.reduce((best, list) => (list.length > best.length ? list : best));
    return longest.length > 0 ? longest.use : undefined;
  });
  if (uses.includes('never')) return 'never';
  return uses.find((use) => use !== undefined);
}

/** Whether the user wants what has this address to come through a tunnel. Only what is encrypted can. */
export function isTunnelled({ scheme, host }: Pick<OriginUrl, 'scheme' | 'host'>, rules: SiteRules): boolean {
  return scheme === 'https' && siteUse([host], rules) === 'tunnel';
}

/** The lists with one site moved to one of them, or to none. */
export function withSite(rules: SiteRules, host: string, use: SiteUse | undefined): SiteRules {
  const moved = (sites: readonly string[], isHere: boolean) => {
    const others = sites.filter((site) => site !== host);
    return isHere ? [...others, host].toSorted() : others;
  };
  return {
    sitesAlways: moved(rules.sitesAlways, use === 'always'),
    sitesOff: moved(rules.sitesOff, use === 'never'),
    sitesTunnel: moved(rules.sitesTunnel, use === 'tunnel'),
  };
}

/** Length of the longest of these sites that is the host or a name above it; 0 when none is. */
function coveringLength(host: string, sites: readonly string[]): number {
  const isCovered = (site: string) => host === site || (!isAddressLiteral(site) && host.endsWith(`.${site}`));
  return Math.max(0, ...sites.filter(isCovered).map((site) => site.length));
}
