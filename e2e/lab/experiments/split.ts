import { type CongestionControl, MIB } from '@longhaul/shared';
import type { Experiment, Scenario } from '../experiment.ts';
import type { Topology } from '../network/topology.ts';

interface Segment {
  readonly rttMs: number;
  readonly loss: number;
}

/** The two segments of each published setting, from the sender on. */
const SETTINGS: Readonly<Record<string, readonly [Segment, Segment]>> = {
  'clean-far': [
    { rttMs: 100, loss: 0 },
    { rttMs: 1, loss: 0.04 },
  ],
  'lossy-far': [
    { rttMs: 100, loss: 0.02 },
    { rttMs: 1, loss: 0.02 },
  ],
  'two-halves': [
    { rttMs: 40, loss: 0.02 },
    { rttMs: 40, loss: 0.02 },
  ],
};
const RATES_MBPS = [20, 40];
const CONTROLS: readonly CongestionControl[] = ['cubic', 'bbr'];

function twoSegments(
  segments: readonly [Segment, Segment],
  rateBps: number,
  control: CongestionControl,
): Topology {
  const queueBytes = Math.round((rateBps / 8) * ((segments[0].rttMs + segments[1].rttMs) / 1000));
  const link = (between: readonly [string, string], { rttMs, loss }: Segment) => {
    return { between, rttMs, loss, rateBps, queue: { bytes: queueBytes } };
  };
  return {
    name: 'two segments with a depot between them; queues hold rate times round-trip time of the path',
    sites: {
      origin: { role: 'origin', congestionControl: control },
      middle: { role: 'depot', congestionControl: control },
      client: { role: 'client' },
    },
    links: [link(['origin', 'middle'], segments[0]), link(['middle', 'client'], segments[1])],
  };
}

/** The published settings of the study on connection splitting, with Linux's own CUBIC and BBR. */
export const SPLIT: Experiment = {
  name: 'split',
  title: 'Connection splitting: predicted and measured',
  question:
    'Where does it pay to split a connection in two, with the same congestion control everywhere, and does the model that the planner uses know?',
  scenarios: Object.entries(SETTINGS).flatMap(([name, segments]) =>
    RATES_MBPS.flatMap((rateMbps) =>
      CONTROLS.map((control): Scenario => {
        const [first, second] = segments.map(({ rttMs, loss }) => `${rttMs} ms / ${loss * 100} %`);
        return {
          id: `${name}-${rateMbps}M-${control}`,
          label: `${first} + ${second}, ${rateMbps} Mbit/s, ${control}`,
          group: control,
          topology: twoSegments(segments, rateMbps * 1e6, control),
          client: 'client',
          origin: 'origin',
          depots: ['middle'],
          sizeBytes: 10 * MIB,
          variants: {
            direct: { kind: 'direct' },
            split: { kind: 'chain', depots: ['middle'] },
            auto: { kind: 'auto' },
          },
        };
      }),
    ),
  ),
  full: { repeats: 6 },
  quick: { repeats: 2, variants: ['direct', 'split'] },
  cutSeconds: 12,
  repeatsPerTurn: 1,
};
