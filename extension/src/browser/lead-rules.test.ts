import { expect, it } from 'vitest';
import { location } from '../testing/plan.ts';
import { browserRulesOf } from './lead-rules.ts';

interface Rule {
  readonly id: number;
  readonly condition: { readonly regexFilter: string; readonly tabIds: readonly number[] };
  readonly action: object;
}

const FROM = 'https://origin.example/a(1)/file.iso?x=1&y=a%2Fb';
const rule = { id: 3, from: FROM, to: 'https://master.example/get/x', headers: { 'If-None-Match': '"x"' } };
const [leading, setting] = browserRulesOf(rule) as [Rule, Rule];
const matches = (own: Rule, url: string) => new RegExp(own.condition.regexFilter).test(url);

it('leads exactly this address to the master, and no page', () => {
  expect(leading.action).toEqual({ type: 'redirect', redirect: { url: rule.to } });
  expect(leading.condition.tabIds).toEqual([-1]);
  expect(matches(leading, FROM)).toBe(true);
  for (const other of [`${FROM}#lh-direct`, `${FROM}0`, FROM.replace('.example', 'xexample'), `x${FROM}`])
    expect(matches(leading, other)).toBe(false);
});

it('sets headers for this file at every depot, whatever the ticket, and for nothing else', () => {
  expect(matches(setting, location('https://depot.example', FROM))).toBe(true);
  expect(matches(setting, location('http://127.0.0.1:8472', FROM))).toBe(true);
  expect(matches(setting, location('https://depot.example', `${FROM}0`))).toBe(false);
  expect(matches(setting, FROM)).toBe(false);
});

it('gives each of several numbers of their own', () => {
  const ids = [1, 2, 3].flatMap((id) => (browserRulesOf({ ...rule, id }) as Rule[]).map((own) => own.id));
  expect(new Set(ids).size).toBe(6);
  expect(browserRulesOf({ ...rule, headers: {} })).toHaveLength(1);
});
