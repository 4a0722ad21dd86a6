import { api } from './browser-api.ts';

/** Beyond those of jobs. */
const RULE_ID = 1_000_000_000;

/**
 * Has Firefox leave out where the add-on's own requests come from, until the browser ends. It names a number that each
 * installation has made for itself: by that a master would know a user again, for years and in every network.
 */
export async function hideInstallation(): Promise<void> {
  const rule = {
    id: RULE_ID,
    condition: { initiatorDomains: [location.host], resourceTypes: ['xmlhttprequest'] },
    action: { type: 'modifyHeaders', requestHeaders: [{ header: 'origin', operation: 'remove' }] },
  } as unknown as chrome.declarativeNetRequest.Rule;
  await api.declarativeNetRequest.updateSessionRules({ removeRuleIds: [RULE_ID], addRules: [rule] });
}
