import { isPageAddress, issueTicket, parseOriginUrl } from '@longhaul/shared';
import { describe, expect, it } from 'vitest';
import { settings } from '../testing/settings.ts';
import { linkRules } from './link-rules.ts';

interface Rule {
  readonly id: number;
  readonly priority: number;
  readonly condition: {
    readonly regexFilter: string;
    readonly excludedRequestDomains?: readonly string[];
    readonly excludedInitiatorDomains?: readonly string[];
    readonly requestMethods: readonly string[];
    readonly resourceTypes: readonly string[];
  };
  readonly action: { readonly type: string; readonly redirect?: { readonly regexSubstitution: string } };
}

const rules = (patch: Parameters<typeof settings>[0] = {}) => linkRules(settings(patch)) as Rule[];

const TICKET = issueTicket(
  {
    jobId: 'job12345',
    kind: 'get',
    urlHash: 'u'.repeat(22),
    authorityHash: 'a'.repeat(22),
    chains: [['pe-1']],
    promises: [{ rateBps: 1e6, worstRttMs: 10, worstLossRate: 0 }],
    lanes: 1,
    budgetBytes: 1,
    budgetConnections: 1,
    issuedAt: 1,
    lastStart: 2,
    endOfLife: 3,
  },
  'key',
  () => new Uint8Array(64),
);

/** What the browser would make of a link in a page, by these rules. */
function ledTo(url: string, patch: Parameters<typeof settings>[0] = {}): string | undefined {
  const { hostname } = new URL(url);
  const matching = rules(patch).filter(
    ({ condition, action }) =>
      action.type !== 'modifyHeaders' &&
      new RegExp(condition.regexFilter, 'i').test(url) &&
      !condition.excludedRequestDomains?.some((one) => hostname === one || hostname.endsWith(`.${one}`)),
  );
  const [first] = matching.toSorted((one, other) => other.priority - one.priority);
  const to = first?.action.redirect?.regexSubstitution.replaceAll('\\', '$');
  return to === undefined ? undefined : url.replace(new RegExp(first?.condition.regexFilter ?? '', 'i'), to);
}

const GET = 'https://master.example/get';

describe('the rules of links', () => {
  it.each([
    ['https://dl.example/a/b.iso', `${GET}/https/dl.example/a/b.iso`],
    ['http://dl.example:8080/B.ZIP', `${GET}/http/dl.example:8080/B.ZIP`],
    [
      'https://dl.example/a.tar.gz?x=1&y=a%2Fb&u=http://z/?q',
      `${GET}/https/dl.example/a.tar.gz?x=1&y=a%2Fb&u=http://z/?q`,
    ],
  ])('lead %s to the master, with every byte of its address', (url, to) => {
    expect(ledTo(url)).toBe(to);
  });

  it.each([
    ['a page', 'https://dl.example/download?file=a.iso'],
    ['what browsers show', 'https://dl.example/a.pdf'],
    ['what the master has sent back', 'https://dl.example/a.iso#lh-direct'],
    ['what is signed', 'https://bucket.example/a.zip?x=1&X-Amz-Signature=ab'],
    ['what is signed in its path', 'https://cdn.example/bcdn_token=HS256-Rr7bQ2Vt1x0u9Kc3&expires=1/a.zip'],
    ['what has a key', 'https://repo.example/a.tar.gz?api_key=1'],
    ['what has a session in its path', 'https://repo.example/get;jsessionid=1A2B/a.zip'],
    ['what has a session', 'https://repo.example/a.zip?PHPSESSID=0123456789abcdef0123456789'],
    ['what may lapse at a time', 'https://cdn.example/s/_e4Nc3iduzkWRm01TBBNYw/1764288000/a.zip'],
    ['a place in a page', 'https://dl.example/a.iso#x'],
    ["a depot's address", `https://depot.example/a.iso?${TICKET}&server=dl.example&port=443&scheme=https`],
    ["the master's own", `${GET}/https/dl.example/a.iso`],
    ['an address with a password', 'https://u:p@dl.example/a.iso'],
    ['an address literal', 'http://192.0.2.7/a.iso'],
    ['another one', 'http://[2001:db8::1]/a.iso'],
    ['a host of the intranet', 'http://nas/a.iso'],
    ['a private name', 'http://files.corp/a.iso'],
  ])('leave %s alone', (_what, url) => {
    expect(ledTo(url)).toBeUndefined();
  });

  it('lead nothing by its address that depots lead to the origin without a mark: that would go in a circle', () => {
    const kinds = rules().flatMap(
      ({ condition }) => /\[[.]\]\(\?:([^)]*)\)/.exec(condition.regexFilter)?.[1]?.split('|') ?? [],
    );
    expect(kinds).toContain('iso');
    for (const kind of kinds) {
      const url = parseOriginUrl(`https://dl.example/a.${kind}`);
      expect(url.ok && isPageAddress(url.value), kind).toBe(false);
    }
  });

  it('lead to the private hosts that are permitted, and to no other port', () => {
    const privateHosts = ['nas:8080', '*.lab.internal', '10.0.0.7', '[fd00::1]:80'];
    const led = (url: string) => ledTo(url, { privateHosts }) !== undefined;
    expect(led('http://nas:8080/a.iso')).toBe(true);
    expect(led('http://nas/a.iso')).toBe(false);
    expect(led('http://a.lab.internal/a.iso')).toBe(true);
    expect(led('http://10.0.0.7:81/a.iso')).toBe(true);
    expect(led('http://10.0.0.70/a.iso')).toBe(false);
    expect(led('http://[fd00::1]:80/a.iso')).toBe(true);
  });

  it('lead nothing that comes encrypted to a master that is asked in the open, but on this machine', () => {
    const open = { master: 'http://master.example' };
    expect(ledTo('https://dl.example/a.iso', open)).toBeUndefined();
    expect(ledTo('http://dl.example/a.iso', open)).toBe('http://master.example/get/http/dl.example/a.iso');
    expect(ledTo('https://dl.example/a.iso', { master: 'http://127.0.0.1:8471' })).toBeDefined();
  });

  it('follow the kinds and the sites that the user wants', () => {
    const only = { kinds: { mode: 'only', kinds: ['iso', 'pdf'] } } as const;
    expect(ledTo('https://dl.example/a.iso', only)).toBeDefined();
    expect(ledTo('https://dl.example/a.zip', only)).toBeUndefined();
    expect(ledTo('https://dl.example/a.pdf', only)).toBeUndefined();
    expect(ledTo('https://a.dl.example/a.iso', { sitesOff: ['dl.example'] })).toBeUndefined();
    expect(ledTo('https://a.dl.example/a.iso', { sitesTunnel: ['dl.example'] })).toBeUndefined();
    expect(rules({ sitesOff: ['page.example'] })[0]?.condition.excludedInitiatorDomains).toEqual([
      'page.example',
    ]);
  });

  it('lead nothing that a frame asks for, whose page may forbid it to come from elsewhere', () => {
    for (const { condition } of rules()) expect(condition.resourceTypes).toEqual(['main_frame', 'other']);
  });

  it('lead only what a link asks for, and tell master and depots neither cookies nor pages', () => {
    for (const { condition } of rules()) expect(condition.requestMethods).toEqual(['get']);
    const bare = rules().filter(({ action }) => action.type === 'modifyHeaders');
    expect(bare.map(({ condition }) => condition.regexFilter).join()).toContain(
      'master[.]example'.replace('[.]', '\\.'),
    );
    expect(bare).toHaveLength(2);
    const isBare = (url: string) => bare.some(({ condition }) => new RegExp(condition.regexFilter).test(url));
    expect(isBare(`https://depot.example/a.iso?${TICKET}&server=dl.example&port=443&scheme=https`)).toBe(
      true,
    );
    expect(isBare(`${GET}/https/dl.example/a.iso`)).toBe(true);
    expect(isBare('https://whois.example/lookup?www.example.com&server=whois.example')).toBe(false);
  });

  it('have a number of their own each, and are none without a master', () => {
    const ids = rules({ privateHosts: ['a.test', 'b.test'] }).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(rules({ master: '' })).toEqual([]);
  });
});
