import { canonicalHost, isAddressLiteral } from '@longhaul/shared';

/** What the user wants of a site's downloads. */
export type SiteUse = 'always' | 'never';

/** The sites that the user has named; each stands for itself and all names below it. */
export interface SiteRules {
  readonly sitesAlways: readonly string[];
  readonly sitesOff: readonly string[];
}

/** A site as people type it, as the host that it is stored by; `undefined` when it is none. */
export function parseSite(text: string): string | undefined {
  const typed = text.trim().replace(/^\*\./, '');
  const host = canonicalHost(typed);
  return typed !== '' && host.ok ? host.value : undefined;
}

/**
 * What the user wants of a download that has to do with these hosts: its page, what was asked for, where that led. For each host
 * the longest name that covers it counts; where the same site stands in both lists, or hosts differ, never wins.
 */
export function siteUse(hosts: readonly string[], rules: SiteRules): SiteUse | undefined {
  const uses = hosts.map((host) => {
    const never = coveringLength(host, rules.sitesOff);
    const always = coveringLength(host, rules.sitesAlways);
    if (never === 0 && always === 0) return undefined;
    return always > never ? 'always' : 'never';
  });
  if (uses.includes('never')) return 'never';
  return uses.find((use) => use !== undefined);
}

/** The lists with one site moved to one of them, or to none. */
export function withSite(rules: SiteRules, host: string, use: SiteUse | undefined): SiteRules {
  const others = (sites: readonly string[]) => sites.filter((site) => site !== host);
  const moved = (sites: readonly string[], isHere: boolean) =>
    isHere ? [...others(sites), host].toSorted() : others(sites);
  return {
    sitesAlways: moved(rules.sitesAlways, use === 'always'),
    sitesOff: moved(rules.sitesOff, use === 'never'),
  };
}

/** Length of the longest of these sites that is the host or a name above it; 0 when none is. */
function coveringLength(host: string, sites: readonly string[]): number {
  const isCovered = (site: string) => host === site || (!isAddressLiteral(site) && host.endsWith(`.${site}`));
  return Math.max(0, ...sites.filter(isCovered).map((site) => site.length));
}
