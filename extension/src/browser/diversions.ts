import { api } from './browser-api.ts';
import type { RequestEvent } from './requests.ts';
import { isChromium } from './target.ts';

/** What is known of a request whose answer is held. */
export interface HeldAnswer extends RequestEvent {
  readonly incognito?: boolean;
  /** Firefox's container. */
  readonly cookieStoreId?: string;
}

/** What the browser does with requests for files before the add-on sees a download. */
export interface Diversions {
  /** Puts these rules in place of those before. Firefox, which sees answers in time, has none. */
  setRules(rules: readonly object[]): Promise<void>;
  /** Whether answers are held until the add-on has said where their files come from. Chromium knows no such thing. */
  holdAnswers(isOn: boolean): void;
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

/** Only Firefox lets an add-on hold an answer. No event tells it: each browser is about to get those of the other. */
const canHold = !isChromium;

/** Diverts requests of pages, as the browser lets an add-on do it. */
export function browserDiversions(redirect: Redirect): Diversions {
  const hold = (details: unknown) =>
    redirect(details as HeldAnswer).then(
      (redirectUrl) => (redirectUrl === undefined ? {} : { redirectUrl }),
      () => ({}),
    );
  // The types know Chromium's listeners, which answer at once.
  const { onHeadersReceived } = api.webRequest as unknown as {
    onHeadersReceived: Record<'addListener', (...args: unknown[]) => void> &
      Record<'removeListener' | 'hasListener', (listener: unknown) => boolean>;
  };
  return {
    setRules: async (rules) => {
      if (canHold) return;
      const { getSessionRules, updateSessionRules } = api.declarativeNetRequest;
      const removeRuleIds = (await getSessionRules()).map(({ id }) => id);
      await updateSessionRules({ removeRuleIds, addRules: rules as Rule[] });
    },
    holdAnswers: (isOn) => {
      if (!canHold || onHeadersReceived.hasListener(hold) === isOn) return;
      // A redirect of what a frame asks for may be against its page's policy, and end the download.
      const filter = { urls: ['http://*/*', 'https://*/*'], types: ['main_frame'] };
      if (isOn) onHeadersReceived.addListener(hold, filter, ['blocking', 'responseHeaders']);
      else onHeadersReceived.removeListener(hold);
    },
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
