import { formatOriginRelayTarget, parseOriginUrl } from '@longhaul/shared';
import { api } from './browser-api.ts';

/** Leads requests for one address of the add-on's own downloads to another. */
export interface LeadRule {
  /** From 1 on. */
  readonly id: number;
  /** The origin's address, without a fragment. */
  readonly from: string;
  readonly to: string;
  /** More headers for the depot: the browser forgets those of a download when it follows a redirect. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The rules of the add-on's own downloads, which hold for as long as the browser runs. Only Firefox lets an
 * add-on lead those: it asks the rules also when it resumes.
 */
export interface LeadRules {
  lead(rule: LeadRule): Promise<void>;
  release(id: number): Promise<void>;
}

type Rule = chrome.declarativeNetRequest.Rule;

export const browserLeadRules: LeadRules = {
  lead: async (rule) => {
    const addRules = browserRulesOf(rule) as unknown as Rule[];
    await api.declarativeNetRequest.updateSessionRules({ removeRuleIds: browserRuleIds(rule.id), addRules });
  },
  release: async (id) => {
    await api.declarativeNetRequest.updateSessionRules({ removeRuleIds: browserRuleIds(id) });
  },
};

/** The browser needs two rules for each: one leads, the other one sets headers. */
function browserRuleIds(id: number): [leads: number, sets: number] {
  return [2 * id - 1, 2 * id];
}

/** A rule as the browser takes it. */
export function browserRulesOf({ id, from, to, headers }: LeadRule): readonly object[] {
  const [leads, sets] = browserRuleIds(id);
  const requestHeaders = Object.entries(headers).map(([header, value]) => ({
    header,
    operation: 'set',
    value,
  }));
  // A fragment behind the address marks a request that shall go where it says.
  const leading = {
    id: leads,
    condition: ownRequest(`^${escape(from)}$`),
    action: { type: 'redirect', redirect: { url: to } },
  };
  const setting = {
    id: sets,
    condition: ownRequest(atAnyDepot(from)),
    action: { type: 'modifyHeaders', requestHeaders },
  };
  return requestHeaders.length > 0 ? [leading, setting] : [leading];
}

/** A download of an add-on belongs to no tab; pages are left alone. */
function ownRequest(regexFilter: string): object {
  return {
    regexFilter,
    isUrlFilterCaseSensitive: true,
    requestMethods: ['get'],
    resourceTypes: ['other'],
    tabIds: [-1],
  };
}

/** The addresses of a file at whatever depot, with whatever ticket. */
function atAnyDepot(from: string): string {
  const url = parseOriginUrl(from);
  if (!url.ok) throw url.error;
  const [path = '', parameters = ''] = formatOriginRelayTarget('?', url.value).split('??');
  return `^https?:\\/\\/[^/]+${escape(path)}\\?[^&#]+${escape(parameters)}$`;
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
