import { WEB_ACCESS } from '../browser/access.ts';
import { api } from '../browser/browser-api.ts';
import { sendMessage } from '../messages/send-message.ts';
import { parseMasterAddress } from '../settings/parse-master-address.ts';
import { sayCount } from '../texts/figures.ts';
import { say } from '../texts/say.ts';
import { byId } from './dom.ts';
import { fillTexts } from './fill-texts.ts';
import { offerMasterTest, tellField } from './master-field.ts';

fillTexts();
const screens = [...document.querySelectorAll<HTMLElement>('.screen')];
const master = byId('master', HTMLInputElement);
const outcome = byId('outcome', HTMLElement);
let step = 0;

/** Shows one screen; its heading gets the focus, so that what is new is read out. */
function showStep(to: number, isFirst = false): void {
  step = to;
  for (const [index, screen] of screens.entries()) screen.hidden = index !== step;
  const isLast = step === screens.length - 1;
  byId('back', HTMLElement).hidden = step === 0;
  byId('next', HTMLElement).hidden = isLast;
  byId('yes', HTMLElement).hidden = !isLast;
  byId('step', HTMLElement).textContent = say('welcomeStep', {
    step: sayCount(step + 1),
    steps: sayCount(screens.length),
  });
  if (!isFirst) screens[step]?.querySelector('h1')?.focus();
}

/** Says how things stand: he may have said yes before, and may have let it reach nothing. */
async function end(): Promise<void> {
  const { consented } = await sendMessage('status', { tabUrl: '' });
  const hasAccess = await api.permissions.contains(WEB_ACCESS);
  for (const screen of screens) screen.hidden = true;
  byId('steps', HTMLElement).hidden = true;
  byId('step', HTMLElement).textContent = '';
  outcome.hidden = false;
  outcome.textContent = say(consented ? (hasAccess ? 'welcomeDone' : 'leftNoAccess') : 'welcomeLater');
}

/** The browser shows its question only where it is asked within the click itself. */
async function accept(access: Promise<boolean>): Promise<void> {
  const address = parseMasterAddress(master.value);
  // Refused, granted sites and the menus still work.
  await access.catch(() => false);
  if (address === undefined) {
    tellField(master, [say('mistakeMaster')], false);
    master.focus();
    return;
  }
  await sendMessage('change-settings', { master: address, enabled: true });
  await sendMessage('consent', null);
  await end();
}

byId('next', HTMLElement).addEventListener('click', () => showStep(step + 1));
byId('back', HTMLElement).addEventListener('click', () => showStep(step - 1));
byId('not-now', HTMLElement).addEventListener('click', () => void end());
offerMasterTest(master);
byId('yes', HTMLElement).addEventListener('click', () => {
  const isMeant = parseMasterAddress(master.value) !== undefined;
  void accept(isMeant ? api.permissions.request(WEB_ACCESS) : Promise.resolve(false));
});

master.value = (await sendMessage('settings', null)).master;
showStep(0, true);
