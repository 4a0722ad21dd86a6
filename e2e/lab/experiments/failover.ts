import { MIB } from '@longhaul/shared';
import type { Experiment, FaultKind, FaultPosition, Scenario, Variant } from '../experiment.ts';
import { FOUR_LINKS_DEPOTS, fourLinksWithHosts, routerOf } from './four-links.ts';

const KINDS: readonly FaultKind[] = ['fin', 'rst', 'silence'];
const PERCENTS = [10, 50, 90];
const POSITIONS: Readonly<Record<FaultPosition, string>> = {
  first: 'the entry depot breaks, curl resumes',
  middle: 'the middle depot breaks, one curl',
  last: 'the exit depot breaks, one curl',
};

/** When its own depot breaks, only the planner can lead the client past it. */
function scenario(position: FaultPosition, label: string): Scenario {
  const way: Variant = position === 'first' ? { kind: 'auto' } : { kind: 'chain', depots: FOUR_LINKS_DEPOTS };
  const faults = PERCENTS.flatMap((atPercent) =>
    KINDS.map((kind) => [`${kind}-${atPercent}`, { ...way, fault: { kind, position, atPercent } }] as const),
  );
  return {
    id: position,
    label,
    topology: fourLinksWithHosts(),
    client: 'client',
    origin: 'origin',
    depots: FOUR_LINKS_DEPOTS,
    master: routerOf('near'),
    sizeBytes: 30 * MIB,
    variants: { undisturbed: way, ...Object.fromEntries(faults) },
  };
}

/** What a client notices when a depot breaks while its file passes. */
export const FAILOVER: Experiment = {
  name: 'failover',
  title: 'Failover: a depot breaks while a file passes',
  question:
    'Does the download go on when a depot of the chain ends, is reset or falls silent, after which pause, and is the file the origin’s byte by byte?',
  scenarios: (['first', 'middle', 'last'] as const).map((position) =>
    scenario(position, POSITIONS[position]),
  ),
  full: { repeats: 5 },
  quick: { repeats: 1, variants: ['undisturbed', ...KINDS.map((kind) => `${kind}-50`)] },
  cutSeconds: 40,
  repeatsPerTurn: 1,
};
