import { expect, it } from 'vitest';
import { settings } from '../testing/settings.ts';
import { readSettingsFile, settingsFile } from './settings-file.ts';

it('reads what it has written', () => {
  const set = settings({ sitesOff: ['a.example'], privateHosts: ['*.lab'], smallestBytes: 5 });
  expect(readSettingsFile(settingsFile(set))).toEqual({ result: 'settings', settings: set });
});

it.each([
  '',
  '{',
  '[]',
  'null',
  '{"settings":{}}',
  '{"longhaul":1,"settings":[]}',
  `"${'x'.repeat(1_000_001)}"`,
])('takes %.30s for no file of its own', (text) => {
  expect(readSettingsFile(text)).toEqual({ result: 'no-file' });
});

it.each([
  ['master', 'not a master'],
  ['smallestBytes', -1],
  ['privateHosts', ['fine.corp', 'not fine']],
  ['sitesOff', 'a.example'],
  ['enabled', 'yes'],
])('takes nothing of a file whose %s is none, and says which part it is', (part, value) => {
  const text = JSON.stringify({ longhaul: 1, settings: { ...settings(), [part]: value } });
  expect(readSettingsFile(text)).toEqual({ result: 'bad-part', part });
});

it('leaves alone what a file does not have, and passes over what it does not know', () => {
  const text = JSON.stringify({ longhaul: 1, settings: { smallestBytes: 7, later: true } });
  expect(readSettingsFile(text)).toEqual({ result: 'settings', settings: { smallestBytes: 7 } });
});
