import { type CongestionControl, MIB, USUAL_CONGESTION_CONTROL } from '@longhaul/shared';
import type { Experiment, Scenario, Variant } from '../experiment.ts';
import {
  BIG_BUFFER_BYTES,
  FOUR_LINKS_DEPOTS,
  type FourLinksConditions,
  fourLinks,
  LIMITED_BUFFER_BYTES,
} from './four-links.ts';

const VARIANTS: Readonly<Record<string, Variant>> = {
  direct: { kind: 'direct' },
  ranges8: { kind: 'ranges', connections: 8 },
  'aria2-16': { kind: 'aria2', connections: 16 },
  haproxy3: { kind: 'relays', program: 'haproxy' },
  nginx3: { kind: 'relays', program: 'nginx' },
  'chain1-far': { kind: 'chain', depots: ['far'] },
  'chain1-near': { kind: 'chain', depots: ['near'] },
  chain2: { kind: 'chain', depots: ['near', 'far'] },
  chain3: { kind: 'chain', depots: FOUR_LINKS_DEPOTS },
  'chain3-lanes4': { kind: 'chain', depots: FOUR_LINKS_DEPOTS, lanes: 4 },
  'chain3-lanes8': { kind: 'chain', depots: FOUR_LINKS_DEPOTS, lanes: 8 },
  'chain3-lanes8-plain': { kind: 'chain', depots: FOUR_LINKS_DEPOTS, lanes: 8, laneControl: 'plain' },
  auto: { kind: 'auto' },
};

/** nginx as a chain of relays would have to be trusted with the origin's certificate: not a rival for https. */
const { nginx3: _, ...TLS_VARIANTS } = VARIANTS;

const CONDITIONS: Readonly<Record<string, Omit<FourLinksConditions, 'originControl'> & { label: string }>> = {
  'loss0-big': { pathLoss: 0, clientBufferBytes: BIG_BUFFER_BYTES, label: 'no loss, big buffer' },
  'loss1e-3-big': { pathLoss: 1e-3, clientBufferBytes: BIG_BUFFER_BYTES, label: 'loss 0.1 %, big buffer' },
  'loss1e-2-big': { pathLoss: 1e-2, clientBufferBytes: BIG_BUFFER_BYTES, label: 'loss 1 %, big buffer' },
  'loss0-limited': { pathLoss: 0, clientBufferBytes: LIMITED_BUFFER_BYTES, label: 'no loss, limited buffer' },
  'loss1e-3-limited': {
    pathLoss: 1e-3,
    clientBufferBytes: LIMITED_BUFFER_BYTES,
    label: 'loss 0.1 %, limited buffer',
  },
};

const COMMON = { client: 'client', origin: 'origin', depots: FOUR_LINKS_DEPOTS, sizeBytes: 30 * MIB };

function scenarios(originControl: CongestionControl): Scenario[] {
  const suffix = originControl === USUAL_CONGESTION_CONTROL ? '' : `-${originControl}`;
  return Object.entries(CONDITIONS).map(([id, { label, ...conditions }]) => ({
    ...COMMON,
    id: id + suffix,
    label: originControl === USUAL_CONGESTION_CONTROL ? label : `${label}, origin on ${originControl}`,
    group: `origin on ${originControl}`,
    topology: fourLinks({ ...conditions, originControl }),
    variants: VARIANTS,
  }));
}

/** What a chain is worth on a far path, by loss, by the client's buffer and by the origin's congestion control. */
export const MATRIX: Experiment = {
  name: 'matrix',
  title: 'Chains, ranges and rivals on a far path',
  question:
    'How fast is a file of 30 MiB over a path of 100 ms and 100 Mbit/s: directly, in ranges, through rival relays, and through one to three depots, in one lane and in several?',
  scenarios: [
    ...scenarios('cubic'),
    ...scenarios('bbr'),
    {
      ...COMMON,
      id: 'loss1e-3-big-tls',
      label: 'loss 0.1 %, big buffer, https',
      group: 'everything over TLS, origin on cubic',
      topology: fourLinks({ pathLoss: 1e-3, clientBufferBytes: BIG_BUFFER_BYTES, originControl: 'cubic' }),
      tls: true,
      variants: TLS_VARIANTS,
    },
  ],
  full: { repeats: 5 },
  quick: {
    repeats: 3,
    scenarios: Object.keys(CONDITIONS),
    variants: ['direct', 'ranges8', 'chain3', 'chain3-lanes8', 'auto'],
  },
  cutSeconds: 12,
  repeatsPerTurn: 1,
};
