import { expect, test } from 'vitest';
import type { FaultPosition } from '../experiment.ts';
import { depotAt } from './depot-at.ts';

test.each<[FaultPosition, string[], string | undefined]>([
  ['first', ['near', 'middle', 'far'], 'near'],
  ['middle', ['near', 'middle', 'far'], 'middle'],
  ['last', ['near', 'middle', 'far'], 'far'],
  // The planner may choose fewer depots than there are: then no other one is taken for the middle.
  ['middle', ['near', 'far'], undefined],
  ['middle', ['near'], undefined],
  ['first', [], undefined],
  ['last', [], undefined],
])('the %s depot of the chain %j is %s', (position, chain, expected) => {
  expect(depotAt(position, chain)).toBe(expected);
});
