import {
  canonicalOriginUrl,
  type OriginUrl,
  originTarget,
  type PlanAnswer,
  parseGetPath,
  parseRelayTarget,
} from '@longhaul/shared';
import { parseUrl } from '../parse-url.ts';
import { isThisMachine } from '../settings/parse-master-address.ts';
import type { Settings } from '../settings/settings.ts';
import { isLeftPrivate } from './private-host.ts';
import type { WhyLeft } from './why-left.ts';

/**
 * Why a plan is not followed, whatever master gave it; `undefined` when it is one for this URL. A master is trusted to
 * choose depots, not to send the browser anywhere else: its link must be its own, and name the file that was asked for,
 * and so must the depot's, at a public address.
 */
export function whyUnfit(plan: PlanAnswer, askedUrl: string, settings: Settings): WhyLeft | undefined {
  const asked = parseUrl(askedUrl);
  if (!asked) return 'not-http';
  const unasked = whyUnasked(plan, asked, settings);
  if (unasked) return unasked;
  if (!leadsToDepot(plan.location, asked, settings)) return 'plan-unfit';
  return isInsecure(asked, plan.location) ? 'insecure-chain' : undefined;
}

/**
 * Why a plan is not followed that is to be one for a tunnel to the server of this URL. Its entry depot is a
 * proxy, to which the browser gives the ticket: it must be at a public address, and speak TLS.
 */
export function whyUnfitTunnel(plan: PlanAnswer, asked: OriginUrl, settings: Settings): WhyLeft | undefined {
  const unasked = whyUnasked(plan, asked, settings);
  if (unasked) return unasked;
  const depot = parseUrl(plan.location);
  if (!depot || !plan.ticket || isLeftForeign(depot, settings)) return 'plan-unfit';
  return depot.scheme === 'https' ? undefined : 'insecure-chain';
}

/** Why a plan is no chain for what was asked for. */
function whyUnasked(plan: PlanAnswer, asked: OriginUrl, settings: Settings): WhyLeft | undefined {
  // A master that calls itself otherwise gives links that nobody here has chosen.
  if (!isByMaster(plan.masterUrl, settings.master)) return 'master-elsewhere';
  const link = parseGetPath(plan.masterUrl.slice(settings.master.length));
  if (!link.ok || !isSameUrl(link.value.url, asked)) return 'plan-unfit';
  return plan.decision === 'direct' ? 'direct-is-best' : undefined;
}

/** Whether a plan's link is one of this master. */
export function isByMaster(masterUrl: string, master: string): boolean {
  return masterUrl.startsWith(`${master}/get/`);
}

/** Whether an address is that of a depot that fetches this URL, at a host where the browser may be sent. */
export function leadsToDepot(location: string, asked: OriginUrl, settings: Settings): boolean {
  const [depot, relayed] = [parseUrl(location), relayedBy(location)];
  return (
    depot !== undefined &&
    relayed !== undefined &&
    !isLeftForeign(depot, settings) &&
    isSameUrl(relayed, asked)
  );
}

/** What a depot is asked for at this address. */
export function relayedBy(location: string): OriginUrl | undefined {
  const depot = parseUrl(location);
  const relayed = depot && parseRelayTarget(originTarget(depot));
  return relayed?.ok && relayed.value.from === 'origin' ? relayed.value.url : undefined;
}

/** Private hosts are out of bounds but for those that the user names, and the machine of the master he has set. */
export function isLeftForeign(depot: Pick<OriginUrl, 'host' | 'port'>, settings: Settings): boolean {
  return isLeftPrivate(depot, settings.privateHosts) && parseUrl(settings.master)?.host !== depot.host;
}

function isSameUrl(one: OriginUrl, other: OriginUrl): boolean {
  return canonicalOriginUrl(one) === canonicalOriginUrl(other);
}

/** Whether a file that the browser gets under TLS would come over plain HTTP. */
export function isInsecure(asked: OriginUrl, address: string): boolean {
  return isEncrypted(asked) && !isEncrypted(parseUrl(address));
}

/**
 * Whether nobody on the way hears what is said with this address: what stays on this machine cannot be
 * overheard.
 */
export function isEncrypted(url: OriginUrl | undefined): boolean {
  return url !== undefined && (url.scheme === 'https' || isThisMachine(url.host));
}
