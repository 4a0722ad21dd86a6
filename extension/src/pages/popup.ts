import { api } from '../browser/browser-api.ts';
import { sendMessage } from '../messages/send-message.ts';
import type { Status } from '../messages/status.ts';
import { activeTabUrl } from './active-tab-url.ts';
import { byId } from './dom.ts';
import { downloadCard } from './download-card.ts';
import { explainLeft } from './explain-left.ts';

const REFRESH_MS = 700;
const NOTHING = 'Nothing runs through depots now.';
const OFF = 'Longhaul is off: all downloads come directly.';
const ACCESS = { origins: ['http://*/*', 'https://*/*'] };

const enabled = byId('enabled', HTMLInputElement);
const siteOn = byId('site-on', HTMLInputElement);
const tabUrl = await activeTabUrl();
let site = '';
let shown = '';

function show(status: Status, hasAccess: boolean): void {
  site = status.site;
  enabled.checked = status.enabled;
  byId('enabled-text', HTMLElement).textContent = status.enabled ? 'On' : 'Off';
  byId('no-master', HTMLElement).hidden = status.hasMaster;
  byId('no-access', HTMLElement).hidden = hasAccess || !status.hasMaster;
  byId('site-row', HTMLElement).hidden = site === '' || !status.enabled || !status.hasMaster;
  byId('site', HTMLElement).textContent = site;
  siteOn.checked = !status.siteOff;
  byId('downloads', HTMLElement).replaceChildren(...status.running.map(downloadCard));
  byId('nothing', HTMLElement).hidden = status.running.length > 0;
  byId('nothing', HTMLElement).textContent = status.enabled ? NOTHING : OFF;
  const lastLeft = byId('last-left', HTMLElement);
  lastLeft.hidden = status.lastLeft === undefined;
  if (status.lastLeft) {
    const name = status.lastLeft.name || 'The last download';
    lastLeft.textContent = `${name} came directly: ${explainLeft(status.lastLeft)}`;
  }
}

async function refresh(): Promise<void> {
  const status = await sendMessage('status', { tabUrl });
  const hasAccess = await api.permissions.contains(ACCESS);
  const state = JSON.stringify([status, hasAccess]);
  // Drawing anew what has not changed would take the focus away.
  if (state !== shown) show(status, hasAccess);
  shown = state;
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
byId('grant-access', HTMLButtonElement).addEventListener('click', () => {
  void api.permissions.request(ACCESS).then(refresh);
});

function openOptions(): void {
  void api.runtime.openOptionsPage().then(() => window.close());
}

await refresh();
setInterval(() => void refresh(), REFRESH_MS);
