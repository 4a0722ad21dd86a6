import { createHash } from 'node:crypto';
import type { Experiment, Extent, Scenario } from '../experiment.ts';
import { siteSettings } from '../network/site-settings.ts';
import { LabRefusal } from '../refusal.ts';
import { fingerprintOf } from '../results/run-info.ts';
import { seededRandom } from '../results/seeded-random.ts';

/** Downloads that a master plans before the first that is measured, where it is told of no link. */
export const LEARNING_DOWNLOADS = 10;

/** What a run of an experiment was asked for. */
export interface RunOptions {
  readonly quick: boolean;
  /** One of the experiment's sets, instead of its full or quick extent. */
  readonly set?: string;
  readonly repeats?: number;
  readonly scenarios?: readonly string[];
  readonly variants?: readonly string[];
  /** Left out: the experiment's own. */
  readonly cutSeconds?: number;
  readonly seed: number;
  /**
   * `measured`: the master is told of no link, and each scenario has an overlay of its own. Left out: it is
   * told the topology's.
   */
  readonly links?: 'typed' | 'measured';
}

export interface PlannedTransfer {
  readonly scenario: Scenario;
  readonly variant: string;
  /** From 1. */
  readonly repeat: number;
  /** The same for all variants of one scenario and repeat: common random numbers. */
  readonly seed: number;
}

/** Transfers that follow each other under the conditions of one scenario. */
interface Turn {
  readonly scenario: Scenario;
  readonly transfers: readonly PlannedTransfer[];
}

/** Turns that share one network and its hosts. */
export interface Stint {
  readonly variants: readonly string[];
  readonly turns: readonly Turn[];
}

export interface RunPlan {
  readonly experiment: Experiment;
  readonly scenarios: readonly Scenario[];
  readonly cutSeconds: number | null;
  /** Of the scenarios that have most. */
  readonly repeats: number;
  readonly stints: readonly Stint[];
  readonly transferCount: number;
  /** Equal for plans that would run the same transfers under the same conditions. */
  readonly fingerprint: string;
}

/**
 * Decides what is run, in which order: scenarios that can share a network stay together; within them the repeats go
 * round, each with its scenarios and variants shuffled, so that slow changes of the machine hit all alike.
 * @throws {LabRefusal} `lab-input-invalid` for ids that do not exist.
 */
export function planRun(asked: Experiment, options: RunOptions): RunPlan {
  const experiment = options.links === 'measured' ? untold(asked) : asked;
  const extents = extentsOf(experiment, options);
  const cutSeconds = options.cutSeconds ?? experiment.cutSeconds;
  const random = seededRandom(options.seed);
  const stints = extents.flatMap((extent) => stintsOf(experiment, options, extent, random));
  const all = stints.flatMap(({ turns }) => turns.flatMap(({ transfers }) => transfers));
  if (all.length === 0)
    throw new LabRefusal('lab-input-invalid', 'None of the chosen scenarios has one of the chosen variants.');
  const used = new Set(all.map(({ scenario }) => scenario));
  const scenarios = experiment.scenarios.filter((scenario) => used.has(scenario));
  const order = all.map(({ scenario, variant, repeat, seed }) => [scenario.id, variant, repeat, seed]);
  return {
    experiment,
    scenarios,
    cutSeconds,
    repeats: Math.max(...all.map(({ repeat }) => repeat)),
    stints,
    transferCount: all.length,
    fingerprint: fingerprintOf([experiment.name, cutSeconds, scenarios, order]),
  };
}

/**
 * The same experiment with masters that know what depots measure: what one scenario has taught must not count
 * in another.
 */
function untold(experiment: Experiment): Experiment {
  return {
    ...experiment,
    scenarios: experiment.scenarios.map((scenario) => ({ ...scenario, isUntold: true })),
    repeatsPerTurn: Number.POSITIVE_INFINITY,
  };
}

function extentsOf(experiment: Experiment, { quick, set }: RunOptions): readonly Extent[] {
  if (set === undefined) return [quick ? experiment.quick : experiment.full];
  const found = experiment.sets?.[set];
  if (found) return found;
  const known = Object.keys(experiment.sets ?? {});
  throw new LabRefusal(
    'lab-input-invalid',
    `${experiment.name} has no set '${set}'; it has ${known.length > 0 ? known.join(', ') : 'none'}.`,
  );
}

function stintsOf(
  experiment: Experiment,
  options: RunOptions,
  extent: Extent,
  random: () => number,
): readonly Stint[] {
  const repeats = options.repeats ?? extent.repeats;
  const scenarios = chooseScenarios(experiment, options, extent);
  const variants = new Set(chosenVariants(experiment, options, extent));
  return [...Map.groupBy(scenarios, stageKey).values()].map((together): Stint => {
    const turns: Turn[] = [];
    for (let first = 1; first <= repeats; first += experiment.repeatsPerTurn) {
      const last = Math.min(first + experiment.repeatsPerTurn - 1, repeats);
      for (const scenario of shuffled(together, random)) {
        const ids = Object.keys(scenario.variants).filter((id) => variants.has(id));
        const transfers: PlannedTransfer[] = [];
        for (let repeat = first; repeat <= last; repeat++) {
          const seed = seedOf(options.seed, scenario.id, repeat);
          for (const variant of shuffled(ids, random)) transfers.push({ scenario, variant, repeat, seed });
        }
        if (transfers.length > 0) turns.push({ scenario, transfers });
      }
    }
    const used = turns.flatMap(({ transfers }) => transfers.map(({ variant }) => variant));
    return { variants: [...new Set(used)], turns };
  });
}

function chooseScenarios(experiment: Experiment, options: RunOptions, extent: Extent): readonly Scenario[] {
  const known = experiment.scenarios.map(({ id }) => id);
  refuseUnknown('scenario', experiment, options.scenarios ?? [], known);
  // What a set leaves out stays out; without one, what is asked for by name is run.
  const offered = options.set === undefined ? (options.scenarios ?? extent.scenarios) : extent.scenarios;
  return experiment.scenarios
    .filter(({ id }) => (offered ?? known).includes(id))
    .filter(({ id }) => options.scenarios === undefined || options.scenarios.includes(id));
}

function chosenVariants(experiment: Experiment, options: RunOptions, extent: Extent): readonly string[] {
  const known = [...new Set(experiment.scenarios.flatMap(({ variants }) => Object.keys(variants)))];
  refuseUnknown('variant', experiment, options.variants ?? [], known);
  return options.variants ?? extent.variants ?? known;
}

function refuseUnknown(
  what: string,
  { name }: Experiment,
  asked: readonly string[],
  known: readonly string[],
): void {
  const unknown = asked.filter((id) => !known.includes(id));
  if (unknown.length === 0) return;
  throw new LabRefusal(
    'lab-input-invalid',
    `${name} has no ${what} ${unknown.map((id) => `'${id}'`).join(', ')}; it has ${known.join(', ')}.`,
  );
}

/**
 * Scenarios with the same key differ only in what can be changed while a network lives; routes follow the
 * delays. What origin and depots send with and receive into cannot: depots and rivals keep connections from
 * one scenario to the next, and these keep what they began with.
 */
function stageKey(scenario: Scenario): string {
  if (scenario.isUntold) return scenario.id;
  const { topology, client, origin, depots, master, tls, start } = scenario;
  const links = topology.links.map((link) => ('wire' in link ? link : [link.between, link.rttMs]));
  const sites = Object.keys(topology.sites);
  const keepers = [origin, ...depots].flatMap((id) => topology.sites[id] ?? []).map(siteSettings);
  const stands = [client, origin, depots, master ?? null];
  return JSON.stringify([sites, links, keepers, stands, tls ?? false, start ?? null]);
}

function seedOf(seed: number, scenario: string, repeat: number): number {
  return createHash('sha256').update(`${seed} ${scenario} ${repeat}`).digest().readUInt32BE();
}

/** All of them in an order that is drawn (Fisher and Yates). */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const rest = [...items];
  const result: T[] = [];
  while (rest.length > 0) result.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return result;
}
