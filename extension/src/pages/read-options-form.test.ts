import { expect, it, vi } from 'vitest';
import { readOptionsForm } from './read-options-form.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

it('reads what the user typed into settings', () => {
  const form = {
    master: ' https://master.example/ ',
    smallest: '0.5',
    privateHosts: ' a.corp \n\n*.lab\na.corp\n',
  };
  expect(readOptionsForm(form)).toEqual({
    settings: { master: 'https://master.example', smallestBytes: 500_000, privateHosts: ['a.corp', '*.lab'] },
    mistakes: {},
  });
});

it('lets the master be taken away', () => {
  const { settings } = readOptionsForm({ master: '', smallest: '2', privateHosts: '' });
  expect(settings?.master).toBe('');
});

it('lists every mistake at once and saves nothing', () => {
  const { settings, mistakes } = readOptionsForm({
    master: 'x y',
    smallest: '',
    privateHosts: 'ok.corp\na b',
  });
  expect(settings).toBeUndefined();
  expect(Object.keys(mistakes)).toEqual(['master', 'smallest', 'privateHosts']);
  expect(mistakes.privateHosts).toContain('a b');
});
