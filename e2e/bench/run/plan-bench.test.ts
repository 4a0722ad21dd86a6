import { describe, expect, it } from 'vitest';
import { CASE_IDS } from '../cases/case-id.ts';
import { isLarge, planBench, turnsOf } from './plan-bench.ts';

describe('what a benchmark runs', () => {
  it('usually: four loads, five repeats, bodies as large as the targets say', () => {
    const { loads, repeats } = planBench({ quick: false, congestionControl: 'cubic' });
    expect(repeats).toBe(5);
    expect(loads.map(({ flows }) => flows)).toEqual([1, 8, 64, 1000]);
    expect(loads.map(isLarge)).toEqual([true, true, true, false]);
    expect(loads.at(-1)).toEqual({ flows: 1000, bodyBytes: 8e6 });
  });

  it('quick: so few bytes that a slow relay needs a second or so for them', () => {
    const { loads, repeats } = planBench({ quick: true, congestionControl: 'cubic' });
    expect(repeats).toBeLessThan(5);
    for (const { flows, bodyBytes } of loads) expect(flows * bodyBytes).toBeLessThanOrEqual(1e9);
  });

  it('what the user names wins', () => {
    const plan = planBench({ quick: true, congestionControl: 'reno', repeats: 7, flows: [2] });
    expect([plan.repeats, plan.loads.map(({ flows }) => flows)]).toEqual([7, [2]]);
  });

  it('all of it, or only what is named', () => {
    const all = planBench({ quick: false, congestionControl: 'cubic' });
    expect(all.cases).toEqual(CASE_IDS);
    const { loads, held, cases } = planBench({ quick: false, congestionControl: 'cubic', cases: ['lanes'] });
    expect([loads, held, cases]).toEqual([[], [], ['lanes']]);
  });

  it('goes there and back, so that a drift hits all relays alike', () => {
    expect(turnsOf(['a', 'b', 'c'], 1)).toEqual(['a', 'b', 'c']);
    expect(turnsOf(['a', 'b', 'c'], 2)).toEqual(['c', 'b', 'a']);
  });
});
