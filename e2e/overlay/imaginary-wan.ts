import type { LinkSpec } from './overlay.ts';

/** What every long link carries; the sample origin sends at this rate, too. */
export const IMAGINARY_RATE_BPS = 95e6;

/** A way over another continent, which nobody would take. */
const DETOUR = { rttMs: 300, lossRate: 1e-2, rateBps: 5e6 };

/** What the page says about these links. */
export const IMAGINARY_WAN_NOTE =
  'This overlay runs on one machine. The links are those of an imaginary WAN: their estimates steer the plan, while the bytes stay on loopback.';

/**
 * An origin far from the client, losses in the access networks of both, a depot near each (d1, d3) and one
 * aside. Every pair that bytes may pass is there: of what is left out the master would learn that it is on
 * one machine.
 */
export const IMAGINARY_WAN: readonly LinkSpec[] = [
  { between: ['client', 'origin'], rttMs: 100, lossRate: 2e-3, rateBps: IMAGINARY_RATE_BPS },
  { between: ['client', 'd1'], rttMs: 10, lossRate: 1e-3, rateBps: IMAGINARY_RATE_BPS },
  { between: ['client', 'd3'], ...DETOUR },
  { between: ['d1', 'd3'], rttMs: 80, lossRate: 0, rateBps: IMAGINARY_RATE_BPS },
  { between: ['d1', 'origin'], ...DETOUR },
  { between: ['d3', 'origin'], rttMs: 10, lossRate: 1e-3, rateBps: IMAGINARY_RATE_BPS },
  { between: ['client', 'd2'], rttMs: 60, lossRate: 1e-3, rateBps: 50e6 },
  { between: ['d1', 'd2'], rttMs: 60, lossRate: 0, rateBps: 50e6 },
  { between: ['d2', 'd3'], rttMs: 60, lossRate: 0, rateBps: 50e6 },
  { between: ['d2', 'origin'], rttMs: 60, lossRate: 1e-3, rateBps: 50e6 },
];

/** The same with d2 beside d1: one site with two depots. */
export const NEAR_TWINS: readonly LinkSpec[] = [
  ...IMAGINARY_WAN.filter(({ between }) => !between.includes('d2')),
  { between: ['client', 'd2'], rttMs: 11, lossRate: 1e-3, rateBps: IMAGINARY_RATE_BPS },
  { between: ['d2', 'd3'], rttMs: 81, lossRate: 0, rateBps: IMAGINARY_RATE_BPS },
  { between: ['d1', 'd2'], ...DETOUR },
  { between: ['d2', 'origin'], ...DETOUR },
];
