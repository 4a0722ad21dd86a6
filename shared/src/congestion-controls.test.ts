import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CONGESTION_CONTROLS } from './congestion-controls.ts';

test.each(['reno', 'cubic'] as const)('%s has the window at a loss by which that loss is told', (name) => {
  const { response } = CONGESTION_CONTROLS[name];
  const segments = fc.double({ min: 2, max: 1e5, noNaN: true });
  const rttSeconds = fc.double({ min: 1e-3, max: 2, noNaN: true });
  fc.assert(
    fc.property(segments, rttSeconds, (window, rtt) => {
      expect(response.segments(response.lossRate(window, rtt), rtt)).toBeCloseTo(window, 4);
    }),
  );
});
