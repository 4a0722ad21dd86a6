import { WEB_ACCESS } from '../browser/access.ts';
import { api } from '../browser/browser-api.ts';
import { hasProxyAccess, requestProxyAccess } from '../browser/has-access.ts';
import { isChromium } from '../browser/target.ts';
import { sendMessage } from '../messages/send-message.ts';
import type { RunningDownload, Status } from '../messages/status.ts';
import { SITE_USES } from '../settings/site-rules.ts';
import { sayCount } from '../texts/figures.ts';
import { say } from '../texts/say.ts';
import { activeTabUrl } from './active-tab-url.ts';
import { byId, showEntries } from './dom.ts';
import { type CardAction, doneCard, downloadCard } from './download-card.ts';
import { explainLeft } from './explain-left.ts';
import { fillTexts } from './fill-texts.ts';
import { LegsNow } from './legs-now.ts';
import { hasEnded, type PopupState, popupState, throughDepots } from './popup-state.ts';
import { showFile } from './show-file.ts';
import { TimesLeft } from './time-left.ts';

const REFRESH_MS = 700;
/** How long what came of a click is shown. */
const NOTE_MS = 8_000;

fillTexts();
const enabled = byId('enabled', HTMLInputElement);
const siteUse = byId('site-use', HTMLSelectElement);
const tabUrl = await activeTabUrl();
const timesLeft = new TimesLeft();
const legsNow = new LegsNow((key) => sendMessage('legs', { key }));
const notes = new Map<string, string>();
/** What the user has been told the price of, by job. */
const warned = new Map<string, CardAction>();
let site = '';
/** Whether the browser lets the add-on lead a site through a tunnel. */
let mayTunnel = false;
/** Said until something is stored again: the browser had no room for what the user has changed. */
let noRoom = '';

function show(status: Status, hasAccess: boolean): void {
  ({ site } = status);
  const state = popupState(status, hasAccess);
  const line = byId('state', HTMLElement);
  line.dataset.state = state;
  setText(line, noRoom || sayState(state, status));
  for (const part of ['not-yet', 'no-master', 'no-access']) byId(part, HTMLElement).hidden = part !== state;
  byId('enabled-row', HTMLElement).hidden = state === 'not-yet' || state === 'no-master';
  enabled.checked = status.enabled;
  byId('enabled-text', HTMLElement).textContent = say(status.enabled ? 'on' : 'off');
  byId('site-row', HTMLElement).hidden =
    site === '' || !status.enabled || !status.hasMaster || !status.consented;
  byId('site', HTMLElement).textContent = say('siteOn', { site });
  siteUse.value = status.siteUse ?? '';
  const tunnel = byId('tunnel', HTMLElement);
  const sentence = isChromium || mayTunnel ? sayTunnel(status) : say('tunnelNotAllowed');
  tunnel.hidden = status.siteUse !== 'tunnel' || sentence === '';
  setText(tunnel, sentence);
  showEntries(byId('downloads', HTMLElement), status.running.map(card));
  byId('running-part', HTMLElement).hidden =
    state === 'not-yet' || (state === 'no-master' && !status.running.length);
  byId('nothing', HTMLElement).hidden = status.running.length > 0;
  byId('done-part', HTMLElement).hidden = !hasEnded(status);
  showEntries(
    byId('done', HTMLElement),
    status.done.map((one) => doneCard(one, (id) => void showFile(id, api.downloads))),
  );
  byId('left-part', HTMLElement).hidden = status.lastLeft === undefined;
  if (status.lastLeft) {
    const name = status.lastLeft.name || say('someDownload');
    const why = explainLeft(status.lastLeft);
    byId('last-left', HTMLElement).textContent = status.lastLeft.isUnstarted
      ? say('noticeFailed', { name, why })
      : `${say('cameDirectly', { name })} ${why}`;
  }
}

/** Told again and again, the same sentence would be read out again and again. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function sayState(state: PopupState, status: Status): string {
  switch (state) {
    case 'not-yet':
      return say('stateNotYet');
    case 'off':
      return say('stateOff');
    case 'no-master':
      return say('stateNoMaster');
    case 'no-access':
      return say('stateNoAccess');
    case 'trouble':
      return say('stateTrouble');
    case 'running':
      return say('stateRunning', { count: sayCount(throughDepots(status).length) });
    case 'ready':
      return say('stateReady');
  }
}

function sayTunnel({ tunnel }: Status): string {
  if (!tunnel) return '';
  if ('why' in tunnel) return say('tunnelDirect', { why: explainLeft(tunnel) });
  return say('tunnelNow', { chain: [say('you'), ...tunnel.chain, site].join(' – ') });
}

function card(download: RunningDownload): HTMLLIElement {
  const nowMs = Date.now();
  return downloadCard(download, {
    nowMs,
    pace: timesLeft.of(download, nowMs),
    legs:
      download.way === 'chain' && download.state === 'running' ? legsNow.of(download.key, nowMs) : undefined,
    note: notes.get(download.key) ?? '',
    act: (key, action) => void act(key, action),
  });
}

async function act(key: string, action: CardAction): Promise<void> {
  if (action === 'go-on') return goOn(key);
  const asking = say('optionsAsking');
  // It is being led: the master and depots that answer slowly are no reason to ask them again.
  if (notes.get(key) === asking) return;
  // It starts again at its first byte there.
  if (isChromium && warned.get(key) !== action) {
    warned.set(key, action);
    note(key, say('leadAnew'));
    return refresh();
  }
  warned.delete(key);
  notes.set(key, asking);
  const isLed = await sendMessage('lead', { key, to: action }).finally(() => notes.delete(key));
  if (!isLed) note(key, say(action === 'direct' ? 'noDirect' : 'noOtherPath'));
  await refresh();
}

function note(key: string, text: string): void {
  notes.set(key, text);
  setTimeout(() => {
    if (notes.get(key) === text) notes.delete(key);
  }, NOTE_MS);
}

/** First the background, which asks before it resumes; then the browser, where it wants the click itself. */
async function goOn(key: string): Promise<void> {
  const state = await sendMessage('go-on', { key });
  const id = (await sendMessage('status', { tabUrl })).running.find((one) => one.key === key)?.downloadId;
  // Not awaited: in Firefox it settles when the download has ended.
  if ((state === 'click' || state === 'stuck') && id !== undefined)
    api.downloads.resume(id).catch(() => undefined);
  await refresh();
}

async function refresh(): Promise<void> {
  const status = await sendMessage('status', { tabUrl });
  mayTunnel = await hasProxyAccess();
  show(status, await api.permissions.contains(WEB_ACCESS));
}

/** Shows what holds after a change, be it stored or not. */
async function afterChange(stored: Promise<unknown>): Promise<void> {
  noRoom = await stored.then(
    () => '',
    () => say('optionsNoRoom'),
  );
  await refresh();
}

function openPage(open: () => Promise<unknown>): void {
  void open().then(() => window.close());
}

const openOptions = () => openPage(() => api.runtime.openOptionsPage());

enabled.addEventListener('change', () => {
  void afterChange(sendMessage('change-settings', { enabled: enabled.checked }));
});
siteUse.addEventListener('change', () => {
  const use = SITE_USES.find((one) => one === siteUse.value);
  // The browser shows its question only where it is asked within the choice itself.
  const allowed = use === 'tunnel' ? requestProxyAccess() : undefined;
  void afterChange(sendMessage('set-site', { host: site, ...(use ? { use } : {}) }).then(() => allowed));
});
byId('welcome', HTMLButtonElement).addEventListener('click', () => {
  openPage(() => api.tabs.create({ url: api.runtime.getURL('welcome.html') }));
});
byId('set-master', HTMLButtonElement).addEventListener('click', openOptions);
byId('options', HTMLAnchorElement).addEventListener('click', (event) => {
  event.preventDefault();
  openOptions();
});
byId('clear', HTMLButtonElement).addEventListener('click', () => {
  void afterChange(sendMessage('clear-ended', null));
});
byId('grant-access', HTMLButtonElement).addEventListener('click', () => {
  void api.permissions.request(WEB_ACCESS).then(refresh);
});

await refresh();
setInterval(() => void refresh(), REFRESH_MS);
