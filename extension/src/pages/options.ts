import { sendMessage } from '../messages/send-message.ts';
import type { Settings } from '../settings/settings.ts';
import { say } from '../texts/say.ts';
import { byId } from './dom.ts';
import { fillTexts } from './fill-texts.ts';
import { tellField, testMasterField } from './master-field.ts';
import { type OptionsForm, readOptionsForm } from './read-options-form.ts';
import { exportSettings, importSettings } from './settings-transfer.ts';
import { showHistory } from './show-history.ts';
import { showSites } from './show-sites.ts';

const MB = 1_000_000;
const PRIVATE_EXAMPLES = 'files.corp, *.lab.internal, 10.0.0.7:8080';

const master = byId('master', HTMLInputElement);
const smallest = byId('smallest', HTMLInputElement);
const privateHosts = byId('private-hosts', HTMLTextAreaElement);
const saved = byId('saved', HTMLElement);
const chosenFile = byId('import-file', HTMLInputElement);

function show(settings: Settings): void {
  master.value = settings.master;
  smallest.value = String(settings.smallestBytes / MB);
  privateHosts.value = settings.privateHosts.join('\n');
  showSites(settings.sitesOff, removeSite);
}

function typed(): OptionsForm {
  return { master: master.value, smallest: smallest.value, privateHosts: privateHosts.value };
}

async function removeSite(host: string): Promise<void> {
  await sendMessage('set-site-off', { host, off: false });
  showSites((await sendMessage('settings', null)).sitesOff, removeSite);
}

async function save(): Promise<void> {
  const { settings, mistakes } = readOptionsForm(typed());
  const tell = (field: HTMLInputElement | HTMLTextAreaElement, mistake: string | undefined) =>
    tellField(field, mistake === undefined ? [] : [mistake], false);
  tell(master, mistakes.master);
  tell(smallest, mistakes.smallest);
  tell(privateHosts, mistakes.privateHosts);
  saved.textContent = '';
  if (!settings) return document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  show(await sendMessage('change-settings', settings));
  saved.textContent = say('optionsSaved');
}

async function readChosenFile(): Promise<void> {
  const [file] = chosenFile.files ?? [];
  if (!file) return;
  const { settings, sentence } = await importSettings(file);
  if (settings) show(settings);
  byId('imported', HTMLElement).textContent = sentence;
  // The same file, mended, is chosen again.
  chosenFile.value = '';
}

fillTexts();
byId('private-hint', HTMLElement).textContent = say('optionsPrivateHint', { examples: PRIVATE_EXAMPLES });
byId('smallest-unit', HTMLElement).textContent = 'MB';
const form = byId('form', HTMLFormElement);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void save();
});
form.addEventListener('input', () => {
  saved.textContent = '';
});
byId('test', HTMLElement).addEventListener('click', () => void testMasterField(master));
byId('export', HTMLElement).addEventListener('click', () => void exportSettings());
byId('import', HTMLElement).addEventListener('click', () => chosenFile.click());
chosenFile.addEventListener('change', () => void readChosenFile());
byId('erase', HTMLElement).addEventListener('click', () => {
  void sendMessage('erase-history', null)
    .then(() => sendMessage('history', null))
    .then(showHistory);
});

show(await sendMessage('settings', null));
showHistory(await sendMessage('history', null));
