import { CONGESTION_CONTROLS, type LegEstimate, SEGMENT_BYTES } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { promiseOf } from './chain-legs.ts';

const leg = (patch: Partial<LegEstimate> = {}): LegEstimate => ({
  rttMs: 30,
  lossRate: 0.001,
  rateBps: 100e6,
  windowBytes: 16e6,
  sender: 'cubic',
  ...patch,
});

/** What one connection carries, as an entry depot reads it of a promise. */
function oneConnectionBps(legs: readonly LegEstimate[]): number {
  const { worstLossRate, worstRttMs } = promiseOf(legs, 8);
  const rttSeconds = worstRttMs / 1000;
  const { segments } = CONGESTION_CONTROLS.cubic.response;
  return (segments(worstLossRate, rttSeconds) * SEGMENT_BYTES * 8) / rttSeconds;
}

describe('what the plan promises', () => {
  test('tells how much one connection carries of the leg that holds each lane back, be it modelled or measured', () => {
    const client = leg({ rttMs: 20, lossRate: 0 });
    const modelled = promiseOf([client, leg(), leg({ lossRate: 0.01 })], 8);
    expect(modelled).toMatchObject({ worstRttMs: 30, worstLossRate: 0.01 });
    for (const sender of ['cubic', 'bbr'] as const) {
      const narrow = leg({ rttMs: 20, connectionBps: 12e6, sender });
      expect(oneConnectionBps([client, leg({ connectionBps: 40e6 }), narrow]) / 12e6).toBeCloseTo(1, 5);
      expect(promiseOf([client, narrow], 8).rateBps).toBe(96e6);
    }
  });

  test('says nothing of losses where no leg is held back by them', () => {
    const clean = leg({ lossRate: 0 });
    const paced = leg({ sender: 'bbr' });
    const full = leg({ connectionBps: 100e6, rateBps: 100e6 });
    for (const other of [clean, full]) expect(promiseOf([clean, other], 8).worstLossRate).toBe(0);
    expect(promiseOf([clean, paced], 8).worstLossRate).toBe(0);
  });
});
