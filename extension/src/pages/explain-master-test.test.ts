import { expect, it } from 'vitest';
import { explainMasterTest, isGoodMaster } from './explain-master-test.ts';

it('says whom a master serves, and what to do where it does not', () => {
  const some = { result: 'some-origins', milliseconds: 9 } as const;
  expect(explainMasterTest(some)).toMatch(/only sites that its operator has named/);
  expect(isGoodMaster(some)).toBe(true);
  const bare = { result: 'serves', milliseconds: 9, hasDepots: false } as const;
  expect(explainMasterTest(bare)).toMatch(/no depot now/);
  const other = { result: 'elsewhere', address: 'https://other.example' } as const;
  expect(explainMasterTest(other)).toMatch(/set that address/);
  expect(isGoodMaster(other)).toBe(false);
});
