import { MIB } from '@longhaul/shared';
import type { LossModel } from '../emulator/link-settings.ts';
import type { Scenario } from '../experiment.ts';
import { BIG_BUFFER_BYTES, FOUR_LINKS_DEPOTS, fourLinks, type RowOfLinks } from './four-links.ts';
import { MATRIX_VARIANTS, SHARING_VARIANTS } from './matrix-variants.ts';

/** The heading of paths that no default of the planner or the depots was chosen for. */
export const UNTUNED = 'paths nobody tuned for, origin on cubic';

interface Path extends RowOfLinks {
  readonly why: string;
  readonly pathLoss?: number;
  readonly sizeBytes?: number;
  readonly rest?: Pick<Scenario, 'crossTraffic' | 'flapping' | 'variants'>;
}

/** Packets are lost one after the other: half of those in a burst of five on average. */
const inBursts = (loss: number): LossModel => {
  const [toGood, lossInBad] = [0.2, 0.5];
  const badShare = loss / lossInBad;
  return {
    kind: 'gilbert-elliott',
    toBad: (toGood * badShare) / (1 - badShare),
    toGood,
    lossInGood: 0,
    lossInBad,
  };
};

const BESIDE = { before: 'far', after: 'middle' } as const;

const PATHS: Readonly<Record<string, Path>> = {
  'bursts-1e-3': {
    name: 'losses in bursts, 0.1 % in all',
    why: 'Losses of radio links and full queues come in bursts, and a burst costs one halving of the window instead of several.',
    every: { loss: inBursts(2.5e-4) },
  },
  'bursts-1e-2': {
    name: 'losses in bursts, 1 % in all',
    why: 'The same where single losses would leave CUBIC next to nothing.',
    every: { loss: inBursts(2.5e-3) },
  },
  'jitter-every': {
    name: 'each link 0 to 5 ms later, at random',
    why: 'BBR takes the least round trip for the path’s; HyStart takes a longer one for a full queue.',
    every: { jitterMs: 5 },
  },
  'jitter-last': {
    name: 'the last link 0 to 30 ms later, at random',
    why: 'What radio does to the last leg, whose round trip a near depot makes short.',
    each: [{}, {}, {}, { jitterMs: 30 }],
  },
  'queue-quarter': {
    name: 'queues of a quarter of what each link has under way',
    why: 'Shallow switches: CUBIC loses in slow start, and BBR takes more than its share.',
    queueOfLeg: 0.25,
  },
  'queue-one': {
    name: 'queues of what each link has under way',
    why: 'The rule of thumb for one flow, by leg and not, as in the usual row, by path.',
    queueOfLeg: 1,
  },
  'queue-four': {
    name: 'queues of four times what each link has under way',
    why: 'Bloated buffers: a CUBIC sender fills them, and a chain might fill one on each leg.',
    queueOfLeg: 4,
  },
  reverse: {
    name: 'the client sends over the whole path as well',
    why: 'Acknowledgements wait behind an upload of the same client: its queue is part of every round trip.',
    rest: { crossTraffic: [{ from: 'client', to: 'origin', flows: 1 }], variants: SHARING_VARIANTS },
  },
  asymmetric: {
    name: 'the client sends at 2 Mbit/s only',
    why: 'Cable and DSL: acknowledgements of 100 Mbit/s need about 2.2 Mbit/s.',
    each: [{}, {}, {}, { backward: { rateBps: 2e6, queue: { bytes: 50_000 } } }],
  },
  'last-mile': {
    name: 'the last link at 40 Mbit/s, with a queue of 100 ms',
    why: 'The usual bottleneck is the client’s own line: no chain makes it faster, and none should make it slower.',
    each: [{}, {}, {}, { rateBps: 40e6, queue: { bytes: 500_000 } }],
  },
  'first-mile': {
    name: 'the first link at 40 Mbit/s, with a queue of 100 ms',
    why: 'The origin’s own line is the bottleneck: depots then wait for bytes, and their senders idle.',
    each: [{ rateBps: 40e6, queue: { bytes: 500_000 } }],
  },
  'split-long-middle': {
    name: '10, 70, 10 and 10 ms of round-trip time, loss 0.1 %',
    why: 'An ocean between the depots: one leg holds most of the path, and BBR must carry it.',
    rttsMs: [10, 70, 10, 10],
    pathLoss: 1e-3,
  },
  'split-long-ends': {
    name: '45, 5, 5 and 45 ms of round-trip time, loss 0.1 %',
    why: 'Depots far from both ends: the origin’s CUBIC has 45 ms, and so has the client’s leg.',
    rttsMs: [45, 5, 5, 45],
    pathLoss: 1e-3,
  },
  flapping: {
    name: 'the link between the near depots is down for 0.5 s in every 3 s',
    why: 'A route that comes and goes: every sender waits for its time-out, a short leg for a shorter one.',
    rest: {
      flapping: { link: ['middle', 'near'], everyMs: 3000, downMs: 500 },
      variants: MATRIX_VARIANTS,
    },
  },
  'cross-middle': {
    name: 'two long CUBIC flows over the second link',
    why: 'What a chain takes from flows that share one leg with it.',
    traffic: { before: BESIDE.before, after: BESIDE.after },
    rest: { crossTraffic: [{ from: 'before', to: 'after', flows: 2 }], variants: SHARING_VARIANTS },
  },
  'cross-whole': {
    name: 'two long CUBIC flows over the whole path',
    why: 'What a chain takes from flows like the one that it replaces.',
    traffic: { before: 'origin', after: 'client' },
    rest: { crossTraffic: [{ from: 'before', to: 'after', flows: 2 }], variants: SHARING_VARIANTS },
  },
  'rate-300': {
    name: 'links of 300 Mbit/s',
    why: 'Start-up and windows weigh more, and so does what lanes and relays cost.',
    rateBps: 300e6,
    sizeBytes: 100 * MIB,
  },
  'rate-500': {
    name: 'links of 500 Mbit/s',
    why: 'The same; one connection over 100 ms is then held back by Linux’s usual receive buffer.',
    rateBps: 500e6,
    sizeBytes: 160 * MIB,
  },
  'rate-1000': {
    name: 'links of 1 Gbit/s',
    why: 'As far as the emulator goes: here two cores are the limit as well, so look at the load and at what is marked.',
    rateBps: 1e9,
    sizeBytes: 300 * MIB,
  },
};

/** Scenarios of the matrix beyond the usual row, one for each reason why another might come out otherwise. */
export const PATH_SCENARIOS: readonly Scenario[] = Object.entries(PATHS).map(
  ([id, { why, pathLoss = 0, sizeBytes = 30 * MIB, rest, ...row }]) => ({
    id,
    label: row.name,
    why,
    group: UNTUNED,
    topology: fourLinks({ pathLoss, clientBufferBytes: BIG_BUFFER_BYTES, originControl: 'cubic', row }),
    client: 'client',
    origin: 'origin',
    depots: FOUR_LINKS_DEPOTS,
    sizeBytes,
    variants: MATRIX_VARIANTS,
    ...rest,
  }),
);
