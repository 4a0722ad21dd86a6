import { formatBytes } from '@longhaul/shared';
import type { ReportKind, ReportPlan, ReportScenario } from '../report/report-plan.ts';
import type { Experiment, Scenario, Variant } from './experiment.ts';
import { matrixTargets } from './matrix-targets.ts';
import { boundBps, predictedBps, predictedFirstByteMs, rttOf } from './predictions.ts';

const KINDS: Readonly<Record<string, ReportKind>> = {
  matrix: 'matrix',
  rnp: 'rnp',
  split: 'split',
  signalling: 'signalling',
};

/** What the page of an experiment says beside its numbers. An experiment of its own is shown as a matrix. */
export function reportPlanOf(experiment: Experiment): ReportPlan {
  const kind = KINDS[experiment.name] ?? 'matrix';
  const variants = new Map(experiment.scenarios.flatMap((scenario) => Object.entries(scenario.variants)));
  const plan: ReportPlan = {
    kind,
    title: experiment.title,
    question: experiment.question,
    method: methodOf(experiment),
    scenarios: experiment.scenarios.map((scenario) => describeScenario(scenario, kind)),
    variants: [...variants].map(([id, variant]) => ({
      id,
      label: labelOf(id, variant),
      isLonghaul: variant.kind === 'chain' || variant.kind === 'auto',
    })),
    levelLabel: 'long flows of cross traffic',
  };
  if (kind !== 'matrix' || experiment.name !== 'matrix') return plan;
  const boundOf = (id: string) => plan.scenarios.find((scenario) => scenario.id === id)?.boundBps ?? 0;
  return {
    ...plan,
    targets: matrixTargets(
      plan.scenarios.map(({ id }) => id),
      boundOf,
    ),
  };
}

function describeScenario(scenario: Scenario, kind: ReportKind): ReportScenario {
  const { id, label, group, crossTraffic = [], variants } = scenario;
  return {
    id,
    label,
    ...(group === undefined ? {} : { group }),
    boundBps: boundBps(scenario),
    ...(kind === 'rnp' ? { level: crossTraffic.reduce((sum, { flows }) => sum + flows, 0) } : {}),
    ...(kind === 'split'
      ? { predictedBps: predictions(variants, (way) => predictedBps(scenario, way)) }
      : {}),
    ...(kind === 'signalling'
      ? {
          rttMs: rttOf(scenario),
          predictedMs: predictions(variants, (way) => predictedFirstByteMs(scenario, way)),
        }
      : {}),
  };
}

function predictions(
  variants: Readonly<Record<string, Variant>>,
  predict: (variant: Variant) => number | undefined,
): Record<string, number> {
  const known = Object.entries(variants).flatMap(([id, variant]) => {
    const value = variant.kind === 'auto' ? undefined : predict(variant);
    return value === undefined ? [] : [[id, value] as const];
  });
  return Object.fromEntries(known);
}

function methodOf({ scenarios }: Experiment): string[] {
  const topologies = [...new Set(scenarios.map(({ topology }) => topology.name))];
  const sizes = [...new Set(scenarios.map(({ sizeBytes }) => formatBytes(sizeBytes)))];
  return [
    ...topologies.map((name) => `Topology: ${name}.`),
    'Real Linux TCP between network namespaces; every link is emulated (delay, loss, rate, queue).',
    'Congestion control is set for every host: depots send with BBR and all others with CUBIC, unless a scenario says otherwise; rivals run at the same sites as the depots and send with what the depots send with.',
    `File: ${sizes.join(', ')}, of bytes that cannot be compressed; every transfer is compared with the original.`,
    '`auto` is the planner, which is told the topology’s links, the client’s window, what origin and depots send with, and the file’s size, but nothing of cross traffic; hand-chosen chains go through the master as well, so both pay for the redirect.',
    'Times of `curl` count from its first connection, those of `aria2c` from its start to its end; the first byte is that of the file itself.',
    'Variants are shuffled within a repeat and share its random seed.',
  ];
}

function labelOf(id: string, variant: Variant): string {
  switch (variant.kind) {
    case 'direct':
      return 'direct';
    case 'ranges':
      return `${variant.connections} plain ranges`;
    case 'aria2':
      return `aria2c, ${variant.connections} connections`;
    case 'relays':
      return `${variant.program === 'haproxy' ? 'HAProxy' : 'nginx'} at each site`;
    case 'chain':
      return id;
    case 'auto':
      return variant.mustGuessSize ? 'auto, size unknown' : 'auto (planner)';
  }
}
