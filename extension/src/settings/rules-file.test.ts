import { expect, it } from 'vitest';
import { settings } from '../testing/settings.ts';
import { type Rules, readRulesFile, writeRulesFile } from './rules-file.ts';

const RULES: Rules = {
  sitesOff: ['bank.example'],
  sitesAlways: ['mirror.example', 'xn--bcher-kva.example'],
  kinds: { mode: 'except', kinds: ['pdf', 'tar.gz'] },
  smallestBytes: 10_000_000,
  bypassKey: 'shift',
};

it('gives back what was exported', () => {
  expect(readRulesFile(writeRulesFile(RULES))).toEqual({ ok: true, rules: RULES });
});

it('exports neither the master nor what is private', () => {
  const text = writeRulesFile(settings({ master: 'https://m.example', privateHosts: ['nas'] }));
  expect(text).not.toMatch(/m\.example|nas/);
});

it('takes sites and kinds as people write them', () => {
  const file = JSON.parse(writeRulesFile(RULES));
  const text = JSON.stringify({
    ...file,
    never: ['*.Bank.Example.', 'BANK.example'],
    kinds: { mode: 'only', kinds: ['.ISO', '*.gz'] },
  });
  expect(readRulesFile(`\uFEFF${text}`)).toMatchObject({
    ok: true,
    rules: { sitesOff: ['bank.example'], kinds: { mode: 'only', kinds: ['iso', 'gz'] } },
  });
});

const changed = (patch: object) => JSON.stringify({ ...JSON.parse(writeRulesFile(RULES)), ...patch });

it.each([
  ['', { problem: 'not-json' }],
  [writeRulesFile(RULES).slice(0, -20), { problem: 'not-json' }],
  ['[]', { problem: 'not-rules' }],
  ['{"format":"ublock"}', { problem: 'not-rules' }],
  [' '.repeat(2_000_000), { problem: 'too-large' }],
  [changed({ version: 2 }), { problem: 'newer' }],
  [changed({ version: null }), { problem: 'bad-entry', place: 'version: null' }],
  [changed({ never: ['a.example', 'not a host'] }), { problem: 'bad-entry', place: 'never: "not a host"' }],
  [changed({ always: [7] }), { problem: 'bad-entry', place: 'always: 7' }],
  [changed({ always: undefined }), { problem: 'bad-entry', place: 'always: missing' }],
  [changed({ kinds: { mode: 'only', kinds: ['../x'] } }), { problem: 'bad-entry', place: 'kinds: "../x"' }],
  [changed({ smallestBytes: -1 }), { problem: 'bad-entry', place: 'smallestBytes: -1' }],
  [changed({ bypassKey: 'meta' }), { problem: 'bad-entry', place: 'bypassKey: "meta"' }],
])('takes nothing of a file that is broken, and says what is wrong: %#', (text, reply) => {
  expect(readRulesFile(text)).toMatchObject({ ok: false, ...reply });
});
