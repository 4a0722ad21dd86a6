import { api } from '../browser/browser-api.ts';
import { sendMessage } from '../messages/send-message.ts';
import type { RunningDownload, Status } from '../messages/status.ts';
import { activeTabUrl } from './active-tab-url.ts';
import { byId, showEntries } from './dom.ts';
import { doneCard, downloadCard } from './download-card.ts';
import { explainLeft } from './explain-left.ts';
import { TimesLeft } from './time-left.ts';

const REFRESH_MS = 700;
const NOTHING = 'Nothing runs through depots now.';
const OFF = 'Longhaul is off: all downloads come directly.';
const ACCESS = { origins: ['http://*/*', 'https://*/*'] };

const enabled = byId('enabled', HTMLInputElement);
const siteOn = byId('site-on', HTMLInputElement);
const tabUrl = await activeTabUrl();
const timesLeft = new TimesLeft();
let site = '';

function show(status: Status, hasAccess: boolean): void {
  site = status.site;
  enabled.checked = status.enabled;
  byId('enabled-text', HTMLElement).textContent = status.enabled ? 'On' : 'Off';
  byId('no-master', HTMLElement).hidden = status.hasMaster;
  byId('no-access', HTMLElement).hidden = hasAccess || !status.hasMaster;
  byId('site-row', HTMLElement).hidden = site === '' || !status.enabled || !status.hasMaster;
  byId('site', HTMLElement).textContent = site;
  siteOn.checked = !status.siteOff;
  showEntries(byId('downloads', HTMLElement), status.running.map(card));
  byId('nothing', HTMLElement).hidden = status.running.length > 0;
  byId('nothing', HTMLElement).textContent = status.enabled ? NOTHING : OFF;
  byId('done-part', HTMLElement).hidden = status.done.length === 0;
  showEntries(byId('done', HTMLElement), status.done.map(doneCard));
  const lastLeft = byId('last-left', HTMLElement);
  lastLeft.hidden = status.lastLeft === undefined;
  if (status.lastLeft) {
    const name = status.lastLeft.name || 'The last download';
    lastLeft.textContent = `${name} came directly: ${explainLeft(status.lastLeft)}`;
  }
}

function card(download: RunningDownload): HTMLLIElement {
  const nowMs = Date.now();
  return downloadCard(download, {
    nowMs,
    secondsLeft: timesLeft.of(download, nowMs),
    goOn: (one) => void goOn(one),
  });
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
  show(status, await api.permissions.contains(ACCESS));
}

enabled.addEventListener('change', () => {
  void sendMessage('change-settings', { enabled: enabled.checked }).then(refresh);
});
siteOn.addEventListener('change', () => {
  void sendMessage('set-site-off', { host: site, off: !siteOn.checked }).then(refresh);
});
byId('set-master', HTMLButtonElement).addEventListener('click', () => openOptions());
byId('options', HTMLAnchorElement).addEventListener('click', (event) => {
  event.preventDefault();
  openOptions();
});
byId('clear', HTMLButtonElement).addEventListener('click', () => {
  void sendMessage('clear-ended', null).then(refresh);
});
byId('grant-access', HTMLButtonElement).addEventListener('click', () => {
  void api.permissions.request(ACCESS).then(refresh);
});

function openOptions(): void {
  void api.runtime.openOptionsPage().then(() => window.close());
}

await refresh();
setInterval(() => void refresh(), REFRESH_MS);
