import { type CongestionControl, MIB, USUAL_CONGESTION_CONTROL } from '@longhaul/shared';
import type { Experiment, Extent, Scenario } from '../experiment.ts';
import type { QuotedRow } from '../report/readme-table.ts';
import {
  BIG_BUFFER_BYTES,
  FOUR_LINKS_DEPOTS,
  type FourLinksConditions,
  fourLinks,
  LIMITED_BUFFER_BYTES,
} from './four-links.ts';
import { PATH_SCENARIOS } from './matrix-paths.ts';
import { MATRIX_VARIANTS } from './matrix-variants.ts';

interface Condition extends Omit<FourLinksConditions, 'originControl'> {
  readonly label: string;
  readonly why: string;
}

const CONDITIONS: Readonly<Record<string, Condition>> = {
  'loss0-big': {
    pathLoss: 0,
    clientBufferBytes: BIG_BUFFER_BYTES,
    label: 'no loss, big buffer',
    why: 'Nothing holds one connection back but its start: a chain must not cost anything here.',
  },
  'loss1e-3-big': {
    pathLoss: 1e-3,
    clientBufferBytes: BIG_BUFFER_BYTES,
    label: 'loss 0.1 %, big buffer',
    why: 'Loss holds back a long CUBIC connection, and a short one hardly.',
  },
  'loss1e-2-big': {
    pathLoss: 1e-2,
    clientBufferBytes: BIG_BUFFER_BYTES,
    label: 'loss 1 %, big buffer',
    why: 'Loss holds back even the origin’s short leg: one connection from it is not enough.',
  },
  'loss0-limited': {
    pathLoss: 0,
    clientBufferBytes: LIMITED_BUFFER_BYTES,
    label: 'no loss, limited buffer',
    why: 'The client’s window holds back each of its connections by the round trip of that connection: several of them win.',
  },
  'loss1e-3-limited': {
    pathLoss: 1e-3,
    clientBufferBytes: LIMITED_BUFFER_BYTES,
    label: 'loss 0.1 %, limited buffer',
    why: 'Both at once.',
  },
  'loss1e-2-limited': {
    pathLoss: 1e-2,
    clientBufferBytes: LIMITED_BUFFER_BYTES,
    label: 'loss 1 %, limited buffer',
    why: 'Both at once, where the origin’s leg is held back as well.',
  },
};

interface Half {
  readonly group: string;
  readonly suffix: string;
  readonly labelSuffix: string;
  readonly originControl: CongestionControl;
  readonly tls?: boolean;
  readonly why?: string;
}

const HALVES: readonly Half[] = [
  { group: 'origin on cubic', suffix: '', labelSuffix: '', originControl: USUAL_CONGESTION_CONTROL },
  {
    group: 'origin on bbr',
    suffix: '-bbr',
    labelSuffix: ', origin on bbr',
    originControl: 'bbr',
    why: 'An origin that withstands loss needs no chain for that.',
  },
  {
    group: 'everything over TLS, origin on cubic',
    suffix: '-tls',
    labelSuffix: ', https',
    originControl: USUAL_CONGESTION_CONTROL,
    tls: true,
    why: 'What most pages use; more round trips before the first byte, and every end encrypts.',
  },
];

function half({ group, suffix, labelSuffix, originControl, tls, why: alsoWhy }: Half): Scenario[] {
  return Object.entries(CONDITIONS).map(([id, { label, why, ...conditions }]) => ({
    id: id + suffix,
    label: label + labelSuffix,
    why: alsoWhy ? `${alsoWhy} ${why}` : why,
    group,
    topology: fourLinks({ ...conditions, originControl }),
    client: 'client',
    origin: 'origin',
    depots: FOUR_LINKS_DEPOTS,
    sizeBytes: 30 * MIB,
    ...(tls ? { tls } : {}),
    variants: MATRIX_VARIANTS,
  }));
}

const BASE = HALVES.flatMap(half);
const idsOf = (scenarios: readonly Scenario[]) => scenarios.map(({ id }) => id);

/** Rows that the README quotes, in its words: those where we lose beside those where we win. */
export const README_ROWS: readonly QuotedRow[] = [
  ['loss0-big', 'no loss'],
  ['loss1e-3-big', 'one packet of a thousand lost'],
  ['loss1e-3-big-tls', 'the same, https'],
  ['loss1e-2-big', 'one of a hundred lost'],
  ['loss1e-2-big-tls', 'the same, https'],
  ['loss0-limited', 'no loss, client’s buffer 256 KB'],
  ['loss1e-3-limited', 'one of a thousand lost, the same buffer'],
];
const README_IDS = README_ROWS.map(([id]) => id);

/** Rivals at their best, and what a client could choose of ours. */
const QUOTED = [
  'direct',
  'ranges8',
  'aria2-16',
  'haproxy3',
  'nginx3',
  'haproxy3-ranges8',
  'haproxy3-aria2-16',
  'nginx3-ranges8',
  'nginx3-aria2-16',
  'chain3',
  'chain3-lanes8',
  'auto',
];
/** What targets compare: the rivals that were ahead in screening, with one connection and with several. */
const ESSENTIAL = ['direct', 'ranges4', 'haproxy3', 'haproxy3-ranges8', 'chain3', 'chain3-lanes8', 'auto'];

const SCREENED = ['ranges8', 'haproxy3-kept', 'nginx3-ranges8', 'chain2', ...ESSENTIAL];

const OTHERS = idsOf(BASE).filter((id) => !README_IDS.includes(id));
const readme: Extent = { repeats: 10, scenarios: README_IDS, variants: QUOTED };
const others: Extent = { repeats: 10, scenarios: OTHERS, variants: ESSENTIAL };
/** On two cores the emulator has been later than 10 ms there: to be asked for by name. */
const TOO_FAST = ['rate-1000'];
const PATH_IDS = idsOf(PATH_SCENARIOS).filter((id) => !TOO_FAST.includes(id));
/** Where others' traffic is looked at, eight lanes are held against eight ranges. */
const SHARING_IDS = idsOf(PATH_SCENARIOS.filter(({ crossTraffic }) => crossTraffic !== undefined));
const sharing: Extent = { repeats: 10, scenarios: SHARING_IDS, variants: ['ranges8', ...ESSENTIAL] };
const paths: Extent = {
  repeats: 10,
  scenarios: PATH_IDS.filter((id) => !SHARING_IDS.includes(id)),
  variants: ESSENTIAL,
};
/** So often that everything together takes less than four hours. */
const REPEATS_OF_THE_REST = 5;

/** What a chain is worth on a far path, by loss, by the client's buffer and by the origin's congestion control. */
export const MATRIX: Experiment = {
  name: 'matrix',
  title: 'Chains, ranges and rivals on a far path',
  question:
    'How fast is a file of 30 MiB over a path of 100 ms and 100 Mbit/s: directly, in ranges, through rival relays, and through one to three depots, in one lane and in several?',
  scenarios: [...BASE, ...PATH_SCENARIOS],
  full: { repeats: 5 },
  quick: {
    repeats: 3,
    scenarios: Object.keys(CONDITIONS),
    variants: ['direct', 'ranges8', 'haproxy3-ranges8', 'chain3', 'chain3-lanes8', 'auto'],
  },
  sets: {
    screen: [{ repeats: 3, scenarios: [...idsOf(BASE), ...PATH_IDS], variants: SCREENED }],
    readme: [readme],
    others: [others],
    paths: [paths, sharing],
    all: [readme, ...[others, paths, sharing].map((rest) => ({ ...rest, repeats: REPEATS_OF_THE_REST }))],
  },
  cutSeconds: 12,
  repeatsPerTurn: 1,
};
