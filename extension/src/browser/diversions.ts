import { remember } from '../remember.ts';
import { api } from './browser-api.ts';
import type { HeaderLine, RequestEvent } from './requests.ts';

/** What is known of a request whose answer is held. */
export interface HeldAnswer extends RequestEvent {
  readonly incognito?: boolean;
  /** Firefox's container. */
  readonly cookieStoreId?: string;
}

/** A request that is about to go out. */
interface Request {
  readonly url: string;
  readonly requestHeaders?: readonly HeaderLine[];
}

const ALARM = 'look-at-master';
/** As often as Chromium rings an alarm. */
const LOOK_MINUTES = 0.5;
/** Where a held answer is to come from instead; `undefined`: from where it is. */
type Redirect = (held: HeldAnswer) => Promise<string | undefined>;
type Rule = chrome.declarativeNetRequest.Rule;

/** Between two looks whether the page of a failure stands. */
const PAGE_LOOK_MS = 100;
/** A page that does not stand by then is left alone. */
const PAGE_LOOKS = 30;

/** Requests remembered that were led: more do not run at once. */
const MOST_LED = 100;

/** What tells of a user, and is for the origin alone. */
const PERSONAL = /^(cookie|referer)$/i;
/** A redirect of what a frame asks for may be against its page's policy, and end the download. */
const HELD = { urls: ['http://*/*', 'https://*/*'], types: ['main_frame'] };

/** The types know Chromium's listeners, which answer at once. */
type BlockingEvent = Record<'addListener', (...args: unknown[]) => void> &
  Record<'removeListener' | 'hasListener', (listener: unknown) => boolean>;

/**
 * Chromium, which tells of an answer only when it cannot be led elsewhere any more: puts these rules in place
 * of those before.
 */
export async function putRules(rules: readonly object[]): Promise<void> {
  const { getSessionRules, updateSessionRules } = api.declarativeNetRequest;
  const removeRuleIds = (await getSessionRules()).map(({ id }) => id);
  await updateSessionRules({ removeRuleIds, addRules: rules as Rule[] });
}

/**
 * Firefox, which alone lets an add-on hold an answer until it has said where the file comes from: gives what
 * switches that on and off. It carries the page along to where a redirect leads; a depot is shown no such
 * thing. What was led once is not held again: its depot has led it back to its origin.
 */
export function holdAnswers(
  redirect: Redirect,
  isAtDepot: (url: string) => boolean,
): (isOn: boolean) => Promise<void> {
  // Firefox keeps the id of a request over its redirects.
  const led = new Map<string, true>();
  const hold = async (details: unknown) => {
    const held = details as HeldAnswer;
    if (led.has(held.requestId)) return {};
    const redirectUrl = await redirect(held).catch(() => undefined);
    if (redirectUrl === undefined) return {};
    remember(led, held.requestId, true, MOST_LED);
    return { redirectUrl };
  };
  const bare = ({ url, requestHeaders = [] }: Request) =>
    isAtDepot(url) ? { requestHeaders: requestHeaders.filter(({ name }) => !PERSONAL.test(name)) } : {};
  const { onHeadersReceived, onBeforeSendHeaders } = api.webRequest as unknown as Record<
    'onHeadersReceived' | 'onBeforeSendHeaders',
    BlockingEvent
  >;
  return async (isOn) => {
    if (onHeadersReceived.hasListener(hold) === isOn) return;
    if (isOn) {
      onBeforeSendHeaders.addListener(bare, HELD, ['blocking', 'requestHeaders']);
      onHeadersReceived.addListener(hold, HELD, ['blocking', 'responseHeaders']);
    } else {
      onHeadersReceived.removeListener(hold);
      onBeforeSendHeaders.removeListener(bare);
    }
  };
}

/** Calls back again and again while that is asked for; to be called while the background starts. */
export function lookAgain(look: () => void): (isOn: boolean) => void {
  api.alarms.onAlarm.addListener(({ name }) => {
    if (name === ALARM) look();
  });
  return (isOn) => {
    if (!isOn) void api.alarms.clear(ALARM);
    else
      void api.alarms.get(ALARM).then((alarm) => {
        if (!alarm) void api.alarms.create(ALARM, { periodInMinutes: LOOK_MINUTES });
      });
  };
}

/** Takes the page of a failed request away, where it has come to stand in a tab. */
export async function leaveFailedPage({
  tabId,
  url,
}: {
  readonly tabId: number;
  readonly url: string;
}): Promise<void> {
  for (let look = 0; look < PAGE_LOOKS; look += 1) {
    const tab = await api.tabs.get(tabId).catch(() => undefined);
    if (!tab) return;
    if (tab.status === 'complete' && tab.url === url) return api.tabs.goBack(tabId).catch(() => undefined);
    await new Promise((go) => setTimeout(go, PAGE_LOOK_MS));
  }
}
