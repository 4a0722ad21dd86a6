import { expect, it } from 'vitest';
import { location } from '../testing/plan.ts';
import { rulesOf } from './routes.ts';

interface Rule {
  readonly id: number;
  readonly condition: { readonly regexFilter: string; readonly tabIds: readonly number[] };
  readonly action: object;
}

const FROM = 'https://origin.example/a(1)/file.iso?x=1&y=a%2Fb';
const route = { id: 3, from: FROM, to: 'https://master.example/get/x', headers: { 'If-None-Match': '"x"' } };
const [leading, setting] = rulesOf(route) as [Rule, Rule];
const matches = (rule: Rule, url: string) => new RegExp(rule.condition.regexFilter).test(url);

it('leads exactly this address to the master, and no page', () => {
  expect(leading.action).toEqual({ type: 'redirect', redirect: { url: route.to } });
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

it('gives each route rules of its own', () => {
  const ids = [1, 2, 3].flatMap((id) => (rulesOf({ ...route, id }) as Rule[]).map((rule) => rule.id));
  expect(new Set(ids).size).toBe(6);
  expect(rulesOf({ ...route, headers: {} })).toHaveLength(1);
});
