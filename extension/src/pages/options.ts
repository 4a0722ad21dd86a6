import { sendMessage } from '../messages/send-message.ts';
import type { Settings } from '../settings/settings.ts';
import { byId } from './dom.ts';
import { explainMasterTest, isGoodMaster } from './explain-master-test.ts';
import { type OptionsForm, readOptionsForm } from './read-options-form.ts';
import { showSites } from './show-sites.ts';

const MB = 1_000_000;

const fields = {
  master: byId('master', HTMLInputElement),
  smallest: byId('smallest', HTMLInputElement),
  'private-hosts': byId('private-hosts', HTMLTextAreaElement),
} as const;
type FieldName = keyof typeof fields;

const saved = byId('saved', HTMLElement);

function show(settings: Settings): void {
  fields.master.value = settings.master;
  fields.smallest.value = String(settings.smallestBytes / MB);
  fields['private-hosts'].value = settings.privateHosts.join('\n');
  showSites(settings.sitesOff, removeSite);
}

function message(field: FieldName, text: string, isGood = false): void {
  const line = byId(`${field}-error`, HTMLElement);
  line.textContent = text;
  line.classList.toggle('good', isGood);
  fields[field].setAttribute('aria-invalid', String(text !== '' && !isGood));
}

function typed(): OptionsForm {
  return {
    master: fields.master.value,
    smallest: fields.smallest.value,
    privateHosts: fields['private-hosts'].value,
  };
}

async function removeSite(host: string): Promise<void> {
  await sendMessage('set-site-off', { host, off: false });
  showSites((await sendMessage('settings', null)).sitesOff, removeSite);
}

async function save(): Promise<void> {
  const { settings, mistakes } = readOptionsForm(typed());
  message('master', mistakes.master ?? '');
  message('smallest', mistakes.smallest ?? '');
  message('private-hosts', mistakes.privateHosts ?? '');
  saved.textContent = '';
  if (!settings) return;
  show(await sendMessage('change-settings', settings));
  saved.textContent = 'Saved';
}

async function test(): Promise<void> {
  message('master', 'Asking…', true);
  const result = await sendMessage('test-master', { master: fields.master.value });
  message('master', explainMasterTest(result), isGoodMaster(result));
}

byId('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void save();
});
byId('form', HTMLFormElement).addEventListener('input', () => {
  saved.textContent = '';
});
byId('test', HTMLButtonElement).addEventListener('click', () => void test());

show(await sendMessage('settings', null));
