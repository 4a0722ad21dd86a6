import {
  DIRECT_FRAGMENT,
  fileNameOf,
  isRelayTarget,
  isSecret,
  type OriginUrl,
  originTarget,
} from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import { parseUrl } from '../parse-url.ts';
import { isWantedKind } from '../settings/file-kind.ts';
import type { Settings } from '../settings/settings.ts';
import { isTunnelled, type SiteUse, siteUse } from '../settings/site-rules.ts';
import type { SeenAnswer } from '../watch/seen-answers.ts';
import { factsOf, isComparable } from './file-facts.ts';
import { isLeftPrivate, isPermittedPrivateHost } from './private-host.ts';
import type { WhyLeft } from './why-left.ts';
import { isElsewhere, whyNotShared } from './why-not-shared.ts';
import { isEncrypted } from './why-unfit.ts';

/** A download that the browser tells of later than this after its start is not a new one. */
const JUST_BEGUN_MS = 30_000;

/** What is known of a download when it is judged. */
export interface Caught {
  readonly download: Download;
  /** The answer that became it; `later` until that has been looked for, `undefined` where nobody saw any. */
  readonly seen: SeenAnswer | undefined | 'later';
  readonly settings: Settings;
  readonly addonId: string;
  readonly nowMs: number;
  /** Whether the user held the key that leaves a download to the browser. */
  readonly isKeyHeld: boolean;
  /** Whether the browser lets the add-on reach the site, whose answers it sees only then, and the master. */
  readonly hasAccess: boolean;
}

/** The same, with what several rules ask. */
interface Facts extends Caught {
  /** What was asked for and where redirects led; fewer than two where one of them is no web address. */
  readonly urls: readonly OriginUrl[];
  readonly answer: SeenAnswer | undefined;
  readonly siteUse: SiteUse | undefined;
}

interface Rule {
  readonly why: WhyLeft;
  /** Whether it waits for the answer that became the download. */
  readonly needsAnswer?: true;
  /** Whether it does not hold where the user always wants the site's files. */
  readonly isWaivable?: true;
  readonly leaves: (facts: Facts) => boolean;
}

const hasWhy =
  (why: WhyLeft) =>
  ({ answer }: Facts) =>
    whyNotShared(answer) === why;

/**
 * Why downloads are left to the browser, in the order in which it is asked: the first one counts. What is the
 * browser's own comes first, then what must not be told to anybody, then what the user wants of the site, of
 * the kind, and of the size.
 */
export const RULES: readonly Rule[] = [
  { why: 'incognito', leaves: ({ download }) => download.incognito },
  { why: 'off', leaves: ({ settings }) => !settings.enabled },
  { why: 'no-master', leaves: ({ settings }) => settings.master === '' },
  { why: 'own', leaves: isOwn },
  { why: 'other-addon', leaves: ({ download }) => download.addonId !== undefined },
  { why: 'container', leaves: ({ download }) => download.isContained },
  { why: 'not-running', leaves: isNotNew },
  { why: 'not-http', leaves: ({ urls }) => urls.length < 2 },
  {
    why: 'private-host',
    leaves: ({ urls, settings }) => urls.some((url) => isLeftPrivate(url, settings.privateHosts)),
  },
  { why: 'key-held', leaves: ({ isKeyHeld }) => isKeyHeld },
  { why: 'site-off', leaves: ({ siteUse }) => siteUse === 'never' },
  // Depots are to see nothing of it but what is encrypted.
  {
    why: 'tunnel',
    leaves: ({ urls, settings }) => urls.some((url) => isTunnelled(url, settings)),
  },
  { why: 'no-access', needsAnswer: true, leaves: ({ hasAccess }) => !hasAccess },
  // Who asks for a site through another machine of his choice wants no third one to learn of it.
  { why: 'socks', needsAnswer: true, leaves: ({ answer }) => answer?.isBySocks === true },
  { why: 'unseen', needsAnswer: true, leaves: hasWhy('unseen') },
  { why: 'post', needsAnswer: true, leaves: hasWhy('post') },
  { why: 'saved-as', needsAnswer: true, leaves: hasWhy('saved-as') },
  { why: 'nearly-done', needsAnswer: true, leaves: hasWhy('nearly-done') },
  { why: 'personal', needsAnswer: true, leaves: isPersonal },
  { why: 'encoded', needsAnswer: true, leaves: hasWhy('encoded') },
  { why: 'no-ranges', needsAnswer: true, leaves: hasWhy('no-ranges') },
  { why: 'private-address', needsAnswer: true, leaves: isPrivateHere },
  { why: 'no-version', needsAnswer: true, leaves: ({ answer }) => !isComparable(fileOf(answer)) },
  { why: 'kind', isWaivable: true, leaves: isUnwantedKind },
  { why: 'small', needsAnswer: true, isWaivable: true, leaves: isSmall },
];

/**
 * The first reason to leave a download to the browser; `undefined` when the master may be told of it. While
 * the answer that became it is not known, only the reasons that need none are asked for.
 */
export function whyByRules(caught: Caught): WhyLeft | undefined {
  const { download, settings } = caught;
  const answer = caught.seen === 'later' ? undefined : caught.seen;
  const urls = parse(download.url, download.finalUrl);
  const pages = parse(answer?.page || download.referrer);
  const use = siteUse(
    [...urls, ...pages].map(({ host }) => host),
    settings,
  );
  const facts: Facts = { ...caught, urls, answer, siteUse: use };
  return RULES.find(
    ({ needsAnswer, isWaivable, leaves }) =>
      !(needsAnswer && caught.seen === 'later') && !(isWaivable && use === 'always') && leaves(facts),
  )?.why;
}

/**
 * Whether a master may be told of a download that runs: the settings may be others than when it began. What
 * the user himself has sent through depots, so that no other download stood before it, is only held to what
 * depots must never see.
 */
export function mayBeTold(
  {
    originUrl,
    page,
    originalId,
  }: { readonly originUrl: string; readonly page: string; readonly originalId: number },
  settings: Settings,
): boolean {
  const urls = parse(originUrl);
  const hosts = [...urls, ...parse(page)].map(({ host }) => host);
  const isForbidden = urls.some(
    (url) => isLeftPrivate(url, settings.privateHosts) || isTunnelled(url, settings),
  );
  const isWanted = originalId < 0 || (settings.enabled && siteUse(hosts, settings) !== 'never');
  return isWanted && !isForbidden;
}

function isOwn({ download, urls, settings, addonId }: Facts): boolean {
  const last = urls.at(-1);
  return (
    download.addonId === addonId ||
    [download.url, download.finalUrl].some(
      (url) =>
        (settings.master !== '' && url.startsWith(`${settings.master}/`)) || url.endsWith(DIRECT_FRAGMENT),
    ) ||
    (last !== undefined && isRelayTarget(originTarget(last)))
  );
}

/** One that began earlier is being resumed, and would have to start again. */
function isNotNew({ download, nowMs }: Facts): boolean {
  const ageMs = nowMs - (download.startedAtMs ?? nowMs);
  return download.state !== 'in_progress' || ageMs > JUST_BEGUN_MS;
}

/**
 * What a site has made for its user, or signed for him: an address that is the right to the file is told to
 * nobody. Where redirects led to it, anybody may ask for what they began with, if that is no such address
 * itself, and no less is encrypted.
 */
function isPersonal(facts: Facts): boolean {
  const first = facts.answer?.first;
  const [asked, last] = facts.urls.map(isEncrypted);
  return (
    hasWhy('personal')(facts) || (first !== undefined && (isSecret(first.url) || (last === true && !asked)))
  );
}

function isPrivateHere({ answer, urls, settings }: Facts): boolean {
  const seen = [answer?.first, answer];
  return urls.some((url, index) => {
    const at = seen[index];
    return at && isElsewhere(at) && !isPermittedPrivateHost(settings.privateHosts, url.host, url.port);
  });
}

/** By the name that the browser gives the file; where it has none yet, by that in the address. */
function isUnwantedKind({ download, urls, settings }: Facts): boolean {
  const last = urls.at(-1);
  const name = download.name || (last ? fileNameOf(last) : '');
  return !isWantedKind(name, settings.kinds);
}

/** Whether the size is known and below what the user lets pass through chains. */
function isSmall({ answer, download, settings }: Facts): boolean {
  const totalBytes = fileOf(answer).totalBytes ?? download.totalBytes;
  return totalBytes !== undefined && totalBytes < settings.smallestBytes;
}

function fileOf(answer: SeenAnswer | undefined) {
  return factsOf(answer?.status ?? 0, answer?.headers ?? new Headers());
}

function parse(...texts: readonly string[]): readonly OriginUrl[] {
  return texts.flatMap((text) => parseUrl(text) ?? []);
}
