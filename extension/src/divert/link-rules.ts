import { isAddressLiteral, parseHostPattern, SIGNED_PATH, SIGNED_QUERY } from '@longhaul/shared';
import { PRIVATE_SUFFIXES } from '../judge/private-host.ts';
import { isEncrypted } from '../judge/why-unfit.ts';
import { parseUrl } from '../parse-url.ts';
import { isWantedKind } from '../settings/file-kind.ts';
import type { Settings } from '../settings/settings.ts';

/** Kinds that browsers save and do not show, so that an address alone tells a download. */
const SAVED_KINDS = [
  '7z',
  'apk',
  'appimage',
  'bin',
  'bz2',
  'cab',
  'deb',
  'dmg',
  'exe',
  'gguf',
  'gz',
  'img',
  'iso',
  'jar',
  'msi',
  'ova',
  'pkg',
  'qcow2',
  'rar',
  'rpm',
  'tar',
  'tgz',
  'vdi',
  'vmdk',
  'whl',
  'xz',
  'zip',
  'zst',
] as const;

/** Chromium refuses a pattern whose machine is larger than 2 KB: so many kinds fit in. */
const KINDS_PER_RULE = 10;
/** Private hosts that are led, too; those after them are left to the other way. */
const MAX_PRIVATE_RULES = 20;
/** The number of the first rule. */
const FIRST_ID = 1_000;

/** Not from frames: a page may say where theirs come from, and then a redirect to anywhere else ends the download. */
const FROM_PAGES = { requestMethods: ['get'], resourceTypes: ['main_frame', 'other'] } as const;
/** A depot's address: its query begins with a ticket, and that with `{"alg":"EdDSA",` in base64url. */
const AT_DEPOT =
  '^https?://[^/]+/[^?]*[?]eyJhbGciOiJFZERTQSIs[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+&(?:server|depot)=';
/** What may be the time at which a link lapses: rules have no clock. */
const MAYBE_TIMED = '/[0-9]{10}/';
/**
 * What may have a key or a session of its user in it: all the names that `isSecret` knows are too many for
 * one rule.
 */
const MAYBE_KEYED = '[?&;][^=&#/]*(key|pass|pwd?|secret|sess|sid|hm|ticket|verify)[^=&#/]*=';
/** A public name: its last label begins with a letter. */
const PUBLIC_HOST = '[^/:@]+[.][a-z][^/:@.]*(?::[0-9]+)?';

/**
 * The rules that lead requests for files to the master before the origin is asked, as the browser takes them.
 * They go by addresses alone: what is private, what the user does not want, and what is on its way already,
 * is left out.
 */
export function linkRules(settings: Settings): readonly object[] {
  const { master, sitesOff, sitesTunnel, privateHosts } = settings;
  const masterUrl = parseUrl(master);
  if (!masterUrl) return [];
  const kinds = SAVED_KINDS.filter((kind) => isWantedKind(`file.${kind}`, settings.kinds));
  const masterHost = masterUrl.host;
  // What comes encrypted is asked for encrypted.
  const schemes = isEncrypted(masterUrl) ? 'https?' : 'http';
  const unwanted = [...sitesOff, ...sitesTunnel, masterHost].map(domainOf);
  const isPrivate = { excludedRequestDomains: [...unwanted, ...PRIVATE_SUFFIXES] };
  const hosts = [
    { host: PUBLIC_HOST, excluded: isPrivate },
    ...privateHosts.slice(0, MAX_PRIVATE_RULES).flatMap((text) => {
      const host = hostPatternOf(text);
      return host === undefined ? [] : [{ host, excluded: { excludedRequestDomains: unwanted } }];
    }),
  ];
  const initiators = sitesOff.length > 0 ? { excludedInitiatorDomains: sitesOff.map(domainOf) } : {};
  const leading = hosts.flatMap(({ host, excluded }) =>
    chunksOf(kinds).map((some) => ({
      priority: 1,
      condition: {
        ...FROM_PAGES,
        ...excluded,
        ...initiators,
        regexFilter: `^(${schemes})://(${host})(/[^?#]*[.](?:${some.join('|')})(?:[?][^#]*)?)$`,
        isUrlFilterCaseSensitive: false,
      },
      action: { type: 'redirect', redirect: { regexSubstitution: `${master}/get/\\1/\\2\\3` } },
    })),
  );
  const bare = ['cookie', 'referer'].map((header) => ({ header, operation: 'remove' }));
  const others = [
    // What a site has signed for one user, or may have, is judged when its answer is there.
    ...[AT_DEPOT, SIGNED_QUERY, SIGNED_PATH, MAYBE_KEYED, MAYBE_TIMED].map((regexFilter) => ({
      priority: 3,
      condition: { ...FROM_PAGES, regexFilter, isUrlFilterCaseSensitive: false },
      action: { type: 'allow' },
    })),
    ...[AT_DEPOT, `^${escape(master)}/get/`].map((regexFilter) => ({
      priority: 4,
      condition: { ...FROM_PAGES, regexFilter },
      action: { type: 'modifyHeaders', requestHeaders: bare },
    })),
  ];
  return [...leading, ...others].map((rule, index) => ({ id: FIRST_ID + index, ...rule }));
}

/** Kinds in groups that fit into one rule. */
function chunksOf(kinds: readonly string[]): readonly (readonly string[])[] {
  const chunks = Math.ceil(kinds.length / KINDS_PER_RULE);
  return Array.from({ length: chunks }, (_, chunk) =>
    kinds.slice(chunk * KINDS_PER_RULE, (chunk + 1) * KINDS_PER_RULE),
  );
}

function hostPatternOf(text: string): string | undefined {
  const pattern = parseHostPattern(text);
  if (!pattern) return undefined;
  const { host, subdomains, port } = pattern;
  const name = `${subdomains ? '[^/:@]+[.]' : ''}${escape(domainOf(host))}`;
  return `${name}${port === undefined ? '(?::[0-9]+)?' : `:${port}`}`;
}

/** A host as it stands in addresses and as the browser's rules take it. */
function domainOf(host: string): string {
  return isAddressLiteral(host) && host.includes(':') ? `[${host}]` : host;
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
