import { expect, it, vi } from 'vitest';
import { explainMasterTest, isGoodMaster } from './explain-master-test.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

it('says whom a master serves, and what to do where it does not', () => {
  const some = { result: 'some-origins', milliseconds: 9 } as const;
  expect(explainMasterTest(some)).toEqual([expect.stringMatching(/only sites that its operator has named/)]);
  expect(isGoodMaster(some)).toBe(true);
  const bare = { result: 'serves', milliseconds: 9, hasDepots: false } as const;
  expect(explainMasterTest(bare)[0]).toMatch(/no depot now/);
  expect(explainMasterTest({ result: 'no-access' })).toEqual([
    expect.stringMatching(/Allow it in the popup/),
  ]);
  const other = { result: 'elsewhere', address: 'https://other.example' } as const;
  expect(explainMasterTest(other)[0]).toMatch(/set that address/);
  expect(isGoodMaster(other)).toBe(false);
});

it('says what the master tells of itself, and its operator’s sentence only where there is one', () => {
  const about = { name: 'get.example', version: '0.1.0', note: '', depotsUp: 2, depots: 3 };
  const test = { result: 'serves', milliseconds: 9, hasDepots: true } as const;
  expect(explainMasterTest({ ...test, about })).toEqual([
    'This master serves you: it answered in 9 ms.',
    'It calls itself get.example (Longhaul 0.1.0).',
    'Depots ready now: 2 of 3.',
  ]);
  expect(explainMasterTest({ ...test, about: { ...about, version: '' } })[1]).toBe(
    'It calls itself get.example.',
  );
  expect(explainMasterTest({ ...test, about: { ...about, note: 'For the campus.' } }).at(-1)).toBe(
    'Its operator says: For the campus.',
  );
});
