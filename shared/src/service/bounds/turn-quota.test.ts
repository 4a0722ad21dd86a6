import { expect, test } from 'vitest';
import { TurnQuota } from './turn-quota.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Something of which there is always more, and how much of it began in each turn; each turn takes so long. */
function startMany(turnsMs: readonly number[]): { readonly begun: number[]; readonly quota: TurnQuota } {
  let clockMs = 0;
  const begun: number[] = [];
  const beginAll = () => {
    const count = begun.length;
    if (count > turnsMs.length) return;
    begun.push(0);
    while (!quota.isUsedUp) {
      quota.use();
      begun[count] = (begun[count] ?? 0) + 1;
    }
    clockMs += turnsMs[count] ?? 0;
  };
  const quota = new TurnQuota(3, beginAll, () => clockMs);
  beginAll();
  return { begun, quota };
}

test('some may begin in each turn of the event loop, and more where turns are long', async () => {
  const { begun } = startMany([1, 20, 400, 5]);
  while (begun.length < 5) await nextTurn();
  expect(begun).toEqual([3, 3, 3, 25, 3]);
});

test('a long turn counts no more when nothing has waited for its end', async () => {
  const { begun, quota } = startMany([400]);
  while (begun.length < 2) await nextTurn();
  expect(begun).toEqual([3, 25]);
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  for (let count = 0; count < 3; count += 1) quota.use();
  expect(quota.isUsedUp).toBe(true);
});
