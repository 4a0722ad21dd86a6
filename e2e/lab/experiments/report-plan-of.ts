import { isDeepStrictEqual } from 'node:util';
import { formatBytes } from '@longhaul/shared';
import { clientConnectionsOf, type Experiment, type Scenario, type Variant } from '../experiment.ts';
import type { ReportKind, ReportPlan, ReportScenario } from '../report/report-plan.ts';
import { failoverTargets } from './failover-targets.ts';
import { matrixTargets } from './matrix-targets.ts';
import { boundBps, predictedBps, predictedFirstByteMs, rttOf } from './predictions.ts';
import { SIGNALLING_TARGETS } from './signalling-targets.ts';

const KINDS: Readonly<Record<string, ReportKind>> = {
  matrix: 'matrix',
  rnp: 'rnp',
  split: 'split',
  signalling: 'signalling',
  failover: 'failover',
};

const RIVAL_NAMES = { haproxy: 'HAProxy', 'haproxy-kept': 'HAProxy (kept)', nginx: 'nginx' } as const;

/** More than these are told by the scenarios’ labels. */
const MOST_TOPOLOGIES_TOLD = 6;

/** What the faults really are: see `breakDepot`. */
const FAULTS = [
  '`fin`: the depot’s process is killed; the kernel closes its connections, with FIN towards the client. `rst`: the kernel aborts all its connections, and every neighbour gets RST. `silence`: the only link of its host is cut; neighbours get nothing any more, no acknowledgement either.',
  'A pause is the longest time without a new byte in the client’s file after the fault, looked at every 10 ms. Every variant’s depot is started again before the next transfer.',
  'With `first` the chain is the planner’s, and `curl -C -` asks the master again, 0.5 s after each end, and gives up a connection that says nothing as `--speed-limit 1 --speed-time 1` have it, about 7 s after the last byte; otherwise there is one plain `curl` and a chain chosen by hand.',
];

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
      clientConnections: clientConnectionsOf(variant),
      ...baselineOf(variant, variants),
    })),
    levelLabel: 'long flows of cross traffic',
  };
  if (kind === 'failover') return { ...plan, targets: failoverTargets(experiment.scenarios) };
  if (kind === 'signalling') return { ...plan, targets: SIGNALLING_TARGETS };
  if (experiment.name !== 'matrix') return plan;
  return { ...plan, targets: matrixTargets(experiment.scenarios, plan) };
}

/** Lanes are compared with the same chain in one lane, and plain lanes with those of the depots' own choice. */
function baselineOf(variant: Variant, all: ReadonlyMap<string, Variant>): { baseline?: string } {
  if (variant.kind !== 'chain' || variant.lanes === undefined) return {};
  const { laneSetup, lanes, ...oneLane } = variant;
  const wanted = laneSetup === undefined ? oneLane : { ...oneLane, lanes };
  const found = [...all].find(([, other]) => isDeepStrictEqual(other, wanted));
  return found ? { baseline: found[0] } : {};
}

function describeScenario(scenario: Scenario, kind: ReportKind): ReportScenario {
  const { id, label, why, group, crossTraffic = [], variants } = scenario;
  return {
    id,
    label,
    ...(why === undefined ? {} : { why }),
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

function methodOf({ scenarios, name }: Experiment): string[] {
  const [usual = '', ...others] = new Set(scenarios.map(({ topology }) => topology.name));
  const topologies =
    others.length <= MOST_TOPOLOGIES_TOLD
      ? [usual, ...others]
      : [`${usual}; and ${others.length} that differ from it in what their labels say`];
  const sizes = [...new Set(scenarios.map(({ sizeBytes }) => formatBytes(sizeBytes)))];
  return [
    ...topologies.map((name) => `Topology: ${name}.`),
    'Real Linux TCP between network namespaces; every link is emulated (delay, loss, rate, queue).',
    'Congestion control is set for every host: depots send with BBR and all others with CUBIC, unless a scenario says otherwise; rivals run at the same sites as the depots and send with what the depots send with.',
    `File: ${sizes.join(', ')}, of bytes that cannot be compressed; every transfer is compared with the original.`,
    '`auto` is the planner, which is told the file’s size and, unless it says below that no link was told, the topology’s links, the client’s window, and what origin and depots send with, but nothing of cross traffic; hand-chosen chains go through the master as well, so both pay for the redirect.',
    'Times of `curl` count from its first connection, those of `aria2c` from its start to its end; the first byte is that of the file itself.',
    'Variants are shuffled within a repeat and share its random seed: ratios “in pairs” are medians of the ratios within repeats, with an interval by bootstrap over repeats.',
    ...(name === 'failover' ? FAULTS : []),
  ];
}

function labelOf(id: string, variant: Variant): string {
  if ('fault' in variant && variant.fault) return `${variant.fault.kind} at ${variant.fault.atPercent} %`;
  switch (variant.kind) {
    case 'direct':
      return 'direct';
    case 'ranges':
      return variant.through
        ? `${variant.connections} ranges, ${RIVAL_NAMES[variant.through]}`
        : `${variant.connections} plain ranges`;
    case 'aria2':
      return variant.through
        ? `aria2c -x${variant.connections}, ${RIVAL_NAMES[variant.through]}`
        : `aria2c, ${variant.connections} connections`;
    case 'relays':
      return `${RIVAL_NAMES[variant.through]} at each site`;
    case 'chain':
      return id;
    case 'auto':
      return variant.mustGuessSize ? 'auto, size unknown' : 'auto (planner)';
  }
}
