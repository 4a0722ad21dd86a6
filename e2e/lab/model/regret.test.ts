import { describe, expect, test } from 'vitest';
import { drawnExperiment, MOST_DRAWN } from './drawn-chains.ts';
import { imaginedLine } from './imagined-lines.ts';
import { measuredWays } from './measured-ways.ts';
import { choicesOf } from './regret.ts';
import { predictedSeconds } from './way-errors.ts';

const topologies = drawnExperiment(1, MOST_DRAWN).scenarios;

/** What is chosen in a topology when its ways take as long as is predicted, times these factors. */
function choiceIn(id: string, factors: Readonly<Record<string, number>> = {}) {
  const { variants } = topologies.find((one) => one.id === id) ?? { variants: {} };
  const once = measuredWays(
    1,
    Object.keys(variants).map((variant) => imaginedLine(id, variant, 1)),
  );
  const lines = once.map((way) =>
    imaginedLine(id, way.variant, (factors[way.variant] ?? 1) * predictedSeconds(way)),
  );
  return choicesOf(measuredWays(1, lines))[0];
}

describe('the choice among measured ways', () => {
  const choices = topologies.flatMap(({ id }) => choiceIn(id) ?? []);

  test('is never far from the best where every prediction is right: only where little is to be gained', () => {
    expect(choices).toHaveLength(topologies.length);
    for (const { regret } of choices) expect(regret).toBeLessThan(0.1);
  });

  test('is direct in some topologies, a chain in others, and sometimes one of several lanes', () => {
    const kinds = choices.map(({ chosen }) => (chosen.way.modelled.lanes > 1 ? 'lanes' : chosen.way.variant));
    expect([...new Set(kinds)]).toEqual(expect.arrayContaining(['direct', 'chain', 'lanes']));
  });

  test('costs what the chosen way takes longer than the best one', () => {
    const chain = choices.find(({ chosen }) => chosen.way.variant === 'chain');
    const slow = choiceIn(chain?.scenario.id ?? '', { chain: 100 });
    expect(slow?.chosen.way.variant).toBe('chain');
    expect(slow?.best.way.variant).not.toBe('chain');
    expect(slow?.regret).toBeGreaterThan(5);
  });

  test('pays the master’s redirect for the direct way as well', () => {
    const direct = choices.find(({ chosen }) => chosen.way.variant === 'direct');
    expect(direct?.chosen.measured).toBeGreaterThan(direct?.chosen.way.time.seconds ?? Number.NaN);
    // A prediction is of what comes after it.
    expect(direct?.chosen.predicted).toBeCloseTo(direct?.chosen.way.time.seconds ?? Number.NaN);
  });
});
