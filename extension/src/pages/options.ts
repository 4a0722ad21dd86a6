import { isProxyAccessGiven, requestProxyAccess } from '../browser/has-access.ts';
import { isChromium } from '../browser/target.ts';
import { sendMessage } from '../messages/send-message.ts';
import type { Rules } from '../settings/rules-file.ts';
import { HELD_KEYS, type Settings } from '../settings/settings.ts';
import { say } from '../texts/say.ts';
import { byId, make } from './dom.ts';
import { fillTexts } from './fill-texts.ts';
import { offerMasterTest, tellField } from './master-field.ts';
import { changesOf, readOptionsForm } from './read-options-form.ts';
import { exportRules, importRules } from './rules-transfer.ts';
import { showHistory } from './show-history.ts';

const MB = 1_000_000;
const PRIVATE_EXAMPLES = 'files.corp, *.lab.internal, 10.0.0.7:8080';
const KIND_EXAMPLES = 'iso tar.gz deb';

const master = byId('master', HTMLInputElement);
const smallest = byId('smallest', HTMLInputElement);
const sitesNever = byId('sites-never', HTMLTextAreaElement);
const sitesAlways = byId('sites-always', HTMLTextAreaElement);
const sitesTunnel = byId('sites-tunnel', HTMLTextAreaElement);
const kindsMode = byId('kinds-mode', HTMLSelectElement);
const kinds = byId('kinds', HTMLInputElement);
const bypassKey = byId('bypass-key', HTMLSelectElement);
const noWastedByte = byId('no-wasted-byte', HTMLInputElement);
const privateHosts = byId('private-hosts', HTMLTextAreaElement);
const tellsMaster = byId('tells-master', HTMLInputElement);
const saved = byId('saved', HTMLElement);
const chosenFile = byId('import-file', HTMLInputElement);

/** As it is shown; what other windows change meanwhile is not. */
let shown: Settings;

/** What stands in the other fields may have been typed, and not saved yet. */
function showRules(rules: Rules): void {
  shown = { ...shown, ...rules };
  smallest.value = String(rules.smallestBytes / MB);
  sitesNever.value = rules.sitesOff.join('\n');
  sitesAlways.value = rules.sitesAlways.join('\n');
  kindsMode.value = rules.kinds.mode;
  kinds.value = rules.kinds.kinds.join(' ');
  kinds.disabled = rules.kinds.mode === 'all';
  bypassKey.value = rules.bypassKey;
}

function show(settings: Settings): void {
  showRules(settings);
  master.value = settings.master;
  sitesTunnel.value = settings.sitesTunnel.join('\n');
  noWastedByte.checked = settings.noWastedByte;
  tellsMaster.checked = settings.tellsMaster;
  privateHosts.value = settings.privateHosts.join('\n');
}

function tellOfSharing(problem: string): void {
  byId('tell-problem', HTMLElement).textContent = problem;
  if (problem !== '') tellsMaster.checked = !tellsMaster.checked;
}

async function showProblem(): Promise<void> {
  const problem = await sendMessage('settings-problem', null);
  const line = byId('problem', HTMLElement);
  line.hidden = problem === null;
  if (problem) line.textContent = say(problem === 'damaged' ? 'problemDamaged' : 'problemNewer');
}

async function save(allowed: Promise<boolean>): Promise<void> {
  const { settings, mistakes } = readOptionsForm({
    master: master.value,
    smallest: smallest.value,
    'sites-never': sitesNever.value,
    'sites-always': sitesAlways.value,
    'sites-tunnel': sitesTunnel.value,
    'kinds-mode': kindsMode.value,
    kinds: kinds.value,
    'bypass-key': bypassKey.value,
    'private-hosts': privateHosts.value,
    'no-wasted-byte': noWastedByte.checked,
  });
  for (const field of [master, smallest, sitesNever, sitesAlways, kinds, privateHosts, sitesTunnel]) {
    const mistake = mistakes[field.id as keyof typeof mistakes];
    tellField(field, mistake === undefined ? [] : [mistake], false);
  }
  saved.textContent = '';
  if (!settings) return document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  const stored = await sendMessage('change-settings', changesOf(shown, settings)).catch(() => undefined);
  if (stored) show(stored);
  saved.textContent = say(stored ? 'optionsSaved' : 'optionsNoRoom');
  if (!isChromium && stored && !(await allowed)) saved.textContent = say('tunnelNotAllowed');
  await showProblem();
}

async function readChosenFile(): Promise<void> {
  const [file] = chosenFile.files ?? [];
  if (!file) return;
  byId('imported', HTMLElement).textContent = await importRules(file, showRules).catch(() =>
    say('optionsNoRoom'),
  );
  // The same file, mended, is chosen again.
  chosenFile.value = '';
}

fillTexts();
byId('private-hint', HTMLElement).textContent = say('optionsPrivateHint', { examples: PRIVATE_EXAMPLES });
byId('kinds-hint', HTMLElement).textContent = say('kindsHint', { examples: KIND_EXAMPLES });
byId('tunnel-host-wide', HTMLElement).hidden = !isProxyAccessGiven;
byId('smallest-unit', HTMLElement).textContent = 'MB';
for (const key of HELD_KEYS) {
  // Keys are called so on all keyboards.
  const name = key === 'none' ? say('keyNone') : `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`;
  const option = make('option', '', name);
  option.value = key;
  bypassKey.append(option);
}
const form = byId('form', HTMLFormElement);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  // The browser shows its question only where it is asked within the click itself.
  void save(sitesTunnel.value.trim() ? requestProxyAccess() : Promise.resolve(true));
});
form.addEventListener('input', () => {
  saved.textContent = '';
  kinds.disabled = kindsMode.value === 'all';
});
// It stands beside what is sent where, and holds at once.
tellsMaster.addEventListener('change', () => {
  void sendMessage('change-settings', { tellsMaster: tellsMaster.checked }).then(
    () => tellOfSharing(''),
    () => tellOfSharing(say('optionsNoRoom')),
  );
});
offerMasterTest(master);
byId('export', HTMLElement).addEventListener('click', () => void exportRules());
byId('import', HTMLElement).addEventListener('click', () => chosenFile.click());
chosenFile.addEventListener('change', () => void readChosenFile());
byId('erase', HTMLElement).addEventListener('click', () => {
  const problem = byId('erase-problem', HTMLElement);
  problem.textContent = '';
  void sendMessage('erase-history', null).then(
    async () => showHistory(await sendMessage('history', null)),
    () => (problem.textContent = say('optionsNoRoom')),
  );
});

show(await sendMessage('settings', null));
// What is typed before would be written over.
form.inert = false;
showHistory(await sendMessage('history', null));
await showProblem();
