import type { RunningLeg } from '@longhaul/shared';
import { expect, it } from 'vitest';
import { chainOfLegs } from './chain-of-legs.ts';

const leg = (from: string, to: string, goodputBps: number): RunningLeg => ({
  from,
  to,
  connections: 1,
  rttMs: 7,
  goodputBps,
});

it('is the way from the client to the origin on which most comes', () => {
  const legs = [
    leg('d1', 'client', 80),
    leg('d2', 'd1', 16),
    leg('d3', 'd1', 64),
    leg('origin', 'd2', 16),
    leg('origin', 'd3', 64),
  ];
  expect(chainOfLegs(legs)).toEqual([
    { from: 'd1', to: 'client', rttMs: 7, bytesPerSecond: 10 },
    { from: 'd3', to: 'd1', rttMs: 7, bytesPerSecond: 8 },
    { from: 'origin', to: 'd3', rttMs: 7, bytesPerSecond: 8 },
  ]);
});

it('is none while a depot does not tell, and does not run in circles', () => {
  expect(chainOfLegs([])).toBeUndefined();
  expect(chainOfLegs([leg('d1', 'client', 8), leg('d2', 'd1', 8)])).toBeUndefined();
  expect(chainOfLegs([leg('d1', 'client', 8), leg('d2', 'd1', 8), leg('d1', 'd2', 8)])).toBeUndefined();
});
