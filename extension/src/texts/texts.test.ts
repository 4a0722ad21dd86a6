import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { api, speak } from '../testing/speaking-browser.ts';
import type { TextKey } from './english.ts';
import { sayBytes, sayDuration, sayPercent, sayRate, sayRtt } from './figures.ts';
import { say } from './say.ts';
import { LANGUAGES, messagesOf, placeholdersOf } from './texts.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

const ENGLISH: Readonly<Record<string, string>> = LANGUAGES.en;
const OTHERS = Object.entries(LANGUAGES).filter(([language]) => language !== 'en');

it.each(OTHERS)('has every sentence in %s, with the same things put in', (_language, texts) => {
  expect(Object.keys(texts)).toEqual(Object.keys(ENGLISH));
  for (const [key, text] of Object.entries<string>(texts)) {
    expect(placeholdersOf(text), key).toEqual(placeholdersOf(ENGLISH[key] ?? ''));
    expect(text.trim(), key).not.toBe('');
  }
});

it.each(OTHERS)('leaves no sentence of %s in English', (_language, texts) => {
  const same = Object.entries<string>(texts).filter(([key, text]) => text === ENGLISH[key]);
  // What is put together from names alone is the same everywhere.
  expect(same.map(([, text]) => text.replaceAll(/\{\w+\}|[^\p{L}]/gu, '')).filter(Boolean)).toEqual([]);
});

it('puts in by name what browsers know by number, whatever the order in a language', () => {
  expect(messagesOf(LANGUAGES.en).amountOf?.message).toBe('$2 of $3 ($1)');
  for (const language of Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]) {
    speak(language);
    const said = say('legSpoken', { from: 'd1', to: 'd2', rate: '9 MB/s', rtt: '20 ms' });
    for (const part of ['d1', 'd2', '9 MB/s', '20 ms']) expect(said).toContain(part);
  }
  speak('en');
  expect(api.i18n.getMessage('leftPost')).toBe(LANGUAGES.en.leftPost);
});

it('says figures as the language of its sentences does', () => {
  const figures = () => [
    sayBytes(31_500_000),
    sayRate(1_250_000),
    sayRtt(4.2),
    sayPercent(0.999),
    sayDuration(80),
  ];
  expect(figures()).toEqual(['31.5 MB', '1.3 MB/s', '4.2 ms', '99%', '1 min 20 sec']);
  speak('pt_BR');
  expect(figures()).toEqual(['31,5 MB', '1,3 MB/s', '4,2 ms', '99%', '1 min 20 s']);
  speak('en');
});

it.each([
  [999, '999 byte'],
  [999_499, '999 kB'],
  [999_500, '1 MB'],
  [999_950_000, '1 GB'],
])('says %d bytes in a unit of which there are less than a thousand', (bytes, text) => {
  expect(sayBytes(bytes)).toBe(text);
});

it('says of one download what it says of many', () => {
  const values = { count: '1', size: '52 MB', date: 'Nov 1, 2026' };
  expect(say('historyTotals', values)).not.toMatch(/1 downloads/);
  speak('pt_BR');
  expect(say('historyTotals', values)).not.toMatch(/1 downloads/);
  speak('en');
});

it('says what is left of a second as it says more', () => {
  expect(say('timeLeft', { time: sayDuration(0.4) })).toBe('about 0.4 sec left');
});

it.each([
  [0.01, '0.1 sec'],
  [0.4, '0.4 sec'],
  [11.4, '11 sec'],
  [59.6, '1 min'],
  [74, '1 min 10 sec'],
  [596, '10 min'],
  [597, '10 min'],
  [1500, '25 min'],
  [3590, '1 hr'],
  [7500, '2 hr 5 min'],
  [Number.POSITIVE_INFINITY, 'very long'],
])('says %d seconds as people do', (seconds, text) => {
  expect(sayDuration(seconds)).toBe(text);
});

it('has no sentence in a page itself, and every one that a page names', async () => {
  const pages = join(import.meta.dirname, '..', 'pages');
  const names = (await readdir(pages)).filter((name) => name.endsWith('.html'));
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) {
    const html = await readFile(join(pages, name), 'utf8');
    const texts = html.replaceAll(/<!doctype[^>]*>|<[^>]+>/gi, '\n').match(/\p{L}[^\n]*/gu) ?? [];
    expect(
      texts.map((text) => text.trim()).filter((text) => text !== 'Longhaul'),
      name,
    ).toEqual([]);
    expect(html, name).not.toMatch(/ (?:aria-label|title|alt|placeholder)="(?!master\.example)/);
    for (const [, key = ''] of html.matchAll(/ data-(?:text|label)="([^"]*)"/g)) {
      expect(placeholdersOf(ENGLISH[key as TextKey] ?? '{missing}'), `${name}: ${key}`).toEqual([]);
    }
  }
});

it('says every sentence somewhere', async () => {
  const src = join(import.meta.dirname, '..');
  const files = (await readdir(src, { recursive: true })).filter(
    (name) => /\.(?:ts|html)$/.test(name) && !/^texts.(?!say|figures)|testing|\.test\./.test(name),
  );
  const sources = await Promise.all(files.map((name) => readFile(join(src, name), 'utf8')));
  const unsaid = Object.keys(ENGLISH).filter(
    (key) => !sources.some((source) => new RegExp(`\\b${key}\\b`).test(source)),
  );
  expect(unsaid).toEqual([]);
});

it('says nothing by a sentence of its own in the pages’ programs', async () => {
  const pages = join(import.meta.dirname, '..', 'pages');
  const names = (await readdir(pages)).filter((name) => /(?<!\.test)\.ts$/.test(name));
  for (const name of names) {
    const source = (await readFile(join(pages, name), 'utf8')).replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
    // Two words with a blank between, which do not tell a mistake of ours.
    const sentences = source.match(/(?<!Error\()(['`])\p{Lu}?\p{Ll}+ \p{Ll}+ [^'`]*\1/gu) ?? [];
    expect(sentences, name).toEqual([]);
  }
});
