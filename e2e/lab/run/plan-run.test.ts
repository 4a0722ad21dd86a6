import type { CongestionControl } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../experiment.ts';
import { EXPERIMENTS } from '../experiments/experiments.ts';
import { MATRIX } from '../experiments/matrix.ts';
import { RNP } from '../experiments/rnp.ts';
import { planRun, type RunOptions, type RunPlan } from './plan-run.ts';

const plan = (options: Partial<RunOptions> = {}) => planRun(MATRIX, { quick: false, seed: 1, ...options });
const transfersOf = ({ stints }: RunPlan) =>
  stints.flatMap(({ turns }) => turns.flatMap(({ transfers }) => transfers));

describe('the plan of a run', () => {
  test.each(EXPERIMENTS)('has every variant of every scenario of $name as often as asked', (experiment) => {
    const transfers = transfersOf(planRun(experiment, { quick: false, repeats: 3, seed: 1 }));
    for (const scenario of experiment.scenarios) {
      for (const variant of Object.keys(scenario.variants)) {
        const repeats = transfers
          .filter((transfer) => transfer.scenario.id === scenario.id && transfer.variant === variant)
          .map(({ repeat }) => repeat);
        expect(repeats.toSorted((one, other) => one - other)).toEqual([1, 2, 3]);
      }
    }
  });

  test('is the same for the same seed, and another order for another one', () => {
    const order = (seed: number) =>
      transfersOf(plan({ seed })).map(({ scenario, variant }) => [scenario.id, variant]);
    expect(order(1)).toEqual(order(1));
    expect(order(1)).not.toEqual(order(2));
    expect(plan({ seed: 1 }).fingerprint).toBe(plan({ seed: 1 }).fingerprint);
    expect(plan({ seed: 1 }).fingerprint).not.toBe(plan({ repeats: 7 }).fingerprint);
  });

  test('gives all variants of one scenario and repeat the same packets to lose', () => {
    const seeds = Map.groupBy(transfersOf(plan()), ({ scenario, repeat }) => `${scenario.id} ${repeat}`);
    for (const together of seeds.values()) expect(new Set(together.map(({ seed }) => seed)).size).toBe(1);
    expect(new Set([...seeds.values()].map(([first]) => first?.seed)).size).toBe(seeds.size);
  });

  test('goes through all scenarios of one network before any comes again', () => {
    const [stint] = plan({ repeats: 2 }).stints;
    const order = stint?.turns.map(({ scenario }) => scenario.id) ?? [];
    const half = order.length / 2;
    expect(new Set(order.slice(0, half)).size).toBe(half);
    expect(new Set(order.slice(half)).size).toBe(half);
  });

  test.each<[string, (scenario: Scenario) => readonly string[], CongestionControl]>([
    ['depots', ({ depots }) => depots, 'bbr'],
    ['an origin', ({ origin }) => [origin], 'cubic'],
  ])('has a network for each way that %s can send: kept connections keep theirs', (_, sitesOf, usual) => {
    const [scenario] = RNP.scenarios;
    if (!scenario) throw new Error('rnp has no scenario');
    const sending = (congestionControl: CongestionControl): Scenario => {
      const { topology } = scenario;
      const named = sitesOf(scenario).flatMap((id) => {
        const site = topology.sites[id];
        return site ? [[id, { ...site, congestionControl }] as const] : [];
      });
      const sites = { ...topology.sites, ...Object.fromEntries(named) };
      return { ...scenario, id: congestionControl, topology: { ...topology, sites } };
    };
    const stintsOf = (scenarios: readonly Scenario[]) =>
      planRun({ ...RNP, scenarios, full: { repeats: 1 } }, { quick: false, seed: 1 }).stints;
    expect(stintsOf([sending('bbr'), sending('cubic')])).toHaveLength(2);
    expect(stintsOf([scenario, sending(usual)])).toHaveLength(1);
  });

  test('stays a few transfers with a scenario that takes long to set up', () => {
    const [stint] = planRun(RNP, { quick: false, seed: 1 }).stints;
    expect(stint?.turns[0]?.transfers).toHaveLength(RNP.repeatsPerTurn * 4);
  });

  test('of the quick matrix is six scenarios by six variants', () => {
    expect(plan({ quick: true, repeats: 3 }).transferCount).toBe(6 * 6 * 3);
  });

  test('of a set has the repeats of each of its parts, and each transfer once', () => {
    const transfers = transfersOf(plan({ set: 'all' }));
    const most = (id: string) =>
      Math.max(...transfers.filter(({ scenario }) => scenario.id === id).map(({ repeat }) => repeat));
    expect(most('loss1e-3-big')).toBe(10);
    expect(most('bursts-1e-3')).toBe(5);
    const keys = transfers.map(({ scenario, variant, repeat }) => `${scenario.id} ${variant} ${repeat}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('with measured links has a stage for each scenario, whose master is told of none, and is another plan', () => {
    const typed = planRun(RNP, { quick: true, seed: 1 });
    const measured = planRun(RNP, { quick: true, seed: 1, links: 'measured' });
    expect(measured.stints).toHaveLength(measured.scenarios.length);
    expect(typed.stints.length).toBeLessThan(measured.stints.length);
    for (const { turns } of measured.stints) {
      expect(turns).toHaveLength(1);
      expect(turns[0]?.scenario.isUntold).toBe(true);
    }
    expect(measured.transferCount).toBe(typed.transferCount);
    expect(measured.fingerprint).not.toBe(typed.fingerprint);
  });

  test('of a set can be narrowed, and not widened', () => {
    const ids = (scenarios: readonly string[]) =>
      plan({ set: 'paths', scenarios }).scenarios.map(({ id }) => id);
    expect(ids(['reverse'])).toEqual(['reverse']);
    expect(() => ids(['loss0-big'])).toThrow(/None of the chosen/);
    expect(() => plan({ set: 'everything' })).toThrow(/no set 'everything'; it has screen, /);
  });

  test('names what it does not know, and what there is', () => {
    expect(() => plan({ scenarios: ['loss0'] })).toThrow(/no scenario 'loss0'; it has loss0-big, /);
    expect(() => plan({ variants: ['squid3'] })).toThrow(/no variant 'squid3'; it has direct, /);
    expect(() => plan({ scenarios: ['loss1e-3-big-tls'], variants: ['ranges4'] })).toThrow(
      /None of the chosen/,
    );
  });
});
