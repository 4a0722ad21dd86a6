import { expect, it, vi } from 'vitest';
import { settings } from '../testing/settings.ts';
import { changesOf, type OptionsForm, readOptionsForm } from './read-options-form.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

const form = (patch: Partial<OptionsForm> = {}): OptionsForm => ({
  master: '',
  smallest: '2',
  'sites-never': '',
  'sites-always': '',
  'sites-tunnel': '',
  'kinds-mode': 'all',
  kinds: '',
  'bypass-key': 'alt',
  'private-hosts': '',
  'no-wasted-byte': false,
  ...patch,
});

it('reads what the user typed into settings', () => {
  const typed = form({
    master: ' https://master.example/ ',
    smallest: '0.5',
    'sites-never': ' Shop.example \n\n*.intern.example',
    'sites-always': 'mirror.example',
    'sites-tunnel': 'members.example',
    'kinds-mode': 'only',
    kinds: '.ISO, tar.gz  iso',
    'private-hosts': ' a.corp \n\n*.lab\na.corp\n',
    'no-wasted-byte': true,
  });
  expect(readOptionsForm(typed)).toEqual({
    settings: {
      master: 'https://master.example',
      smallestBytes: 500_000,
      sitesOff: ['shop.example', 'intern.example'],
      sitesAlways: ['mirror.example'],
      sitesTunnel: ['members.example'],
      kinds: { mode: 'only', kinds: ['iso', 'tar.gz'] },
      bypassKey: 'alt',
      privateHosts: ['a.corp', '*.lab'],
      noWastedByte: true,
    },
    mistakes: {},
  });
});

it('lets the master be taken away', () => {
  expect(readOptionsForm(form()).settings?.master).toBe('');
});

it('lists every mistake at once and saves nothing', () => {
  const { settings, mistakes } = readOptionsForm(
    form({
      master: 'x y',
      smallest: '',
      'sites-never': 'ok.example\nht!p',
      'sites-always': 'no site',
      'sites-tunnel': 'no site',
      'kinds-mode': 'except',
      kinds: 'iso ?',
      'private-hosts': 'ok.corp\na b',
    }),
  );
  expect(settings).toBeUndefined();
  expect(Object.keys(mistakes)).toEqual([
    'master',
    'smallest',
    'sites-never',
    'sites-always',
    'sites-tunnel',
    'kinds',
    'private-hosts',
  ]);
  expect(mistakes['private-hosts']).toContain('a b');
  expect(mistakes['sites-never']).toContain('ht!p');
});

it('saves whatever stands in the list of kinds while it does not count, and keeps the kinds in it', () => {
  const { settings, mistakes } = readOptionsForm(form({ 'kinds-mode': 'all', kinds: 'iso ?' }));
  expect(mistakes).toEqual({});
  expect(settings?.kinds).toEqual({ mode: 'all', kinds: ['iso'] });
});

it('changes what was changed in the form, and nothing that another window may have changed since', () => {
  const shown = settings({ sitesOff: ['shop.example'], smallestBytes: 5e6 });
  expect(changesOf(shown, { ...shown, sitesOff: ['shop.example'] })).toEqual({});
  expect(changesOf(shown, { ...shown, smallestBytes: 6e6 })).toEqual({ smallestBytes: 6e6 });
});
