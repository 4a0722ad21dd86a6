/** The conditions under which single legs are measured: every combination that tells something, one connection each. */
import { type CongestionControl, MIB } from '@longhaul/shared';
import type { Scenario } from '../experiment.ts';
import { BIG_BUFFER_BYTES, LIMITED_BUFFER_BYTES } from '../experiments/four-links.ts';

/** What each condition may be, by the name it has in a cell's id. */
const AXES = {
  sender: { cubic: 'cubic', bbr: 'bbr' },
  rttMs: { '10ms': 10, '40ms': 40, '80ms': 80, '160ms': 160 },
  loss: { '0': 0, '1e-4': 1e-4, '1e-3': 1e-3, '1e-2': 1e-2, '3e-2': 3e-2 },
  bufferBytes: { big: BIG_BUFFER_BYTES, limited: LIMITED_BUFFER_BYTES },
  /** So many times rate times round trip. */
  queue: { 'q0.5': 0.5, q2: 2 },
  sizeBytes: { '300k': 300_000, '3M': 3_000_000, '30M': 30 * MIB },
} as const satisfies Record<string, Readonly<Record<string, number | CongestionControl>>>;

type AxisName = keyof typeof AXES;

interface Conditions {
  readonly sender: CongestionControl;
  readonly rttMs: number;
  readonly loss: number;
  readonly bufferBytes: number;
  readonly queue: number;
  readonly sizeBytes: number;
}

/** The model's constants are fitted on one half of the grid and judged on the other. */
export type Half = 'fitting' | 'other';

export interface GridCell extends Conditions {
  readonly half: Half;
  /** A topology of two sites and the link between them. */
  readonly scenario: Scenario;
}

const RATE_BPS = 100e6;
export const LOSSES: readonly number[] = Object.values(AXES.loss);
/** The way of each cell. */
export const LEG_VARIANT = 'direct';

/** All cells, always in the same order. */
export const GRID_CELLS: readonly GridCell[] = combinations(Object.keys(AXES) as AxisName[])
  .map((names) => ({ names, conditions: conditionsOf(names) }))
  .filter(({ conditions }) => isTelling(conditions))
  .map(({ names, conditions }) => ({
    ...conditions,
    half: halfOf(names),
    scenario: scenarioOf(Object.values(names).join('-'), conditions),
  }));

/** Left out is what another cell tells as well, and what would be cut. */
function isTelling({ sender, rttMs, loss, bufferBytes, queue, sizeBytes }: Conditions): boolean {
  const isLimited = bufferBytes === LIMITED_BUFFER_BYTES;
  // A mouse fills neither window nor queue.
  if (sizeBytes < 1e6 && (isLimited || queue < 1)) return false;
  // Losses and windows keep a queue empty, whatever its size.
  if (queue < 1 && (isLimited || loss > 1e-3)) return false;
  // This window is more than 10 ms need, and with these losses it is not what limits.
  if (isLimited && (rttMs < 40 || loss === 1e-4 || loss > 1e-2)) return false;
  if (sizeBytes < MIB * 10) return true;
  if (isLimited) return rttMs < 160 && (sender === 'bbr' || loss === 0);
  return sender === 'bbr' || loss < 1e-3 || (loss === 1e-3 && rttMs <= 40);
}

type Names = Readonly<Record<AxisName, string>>;

/**
 * Like the fields of a chessboard: of two cells that differ by one step of one condition, each is in another
 * half, so that both halves have every value of every condition.
 */
function halfOf(names: Names): Half {
  const steps = Object.entries(names).map(([axis, name]) =>
    Object.keys(AXES[axis as AxisName]).indexOf(name),
  );
  return steps.reduce((sum, step) => sum + step, 0) % 2 === 0 ? 'fitting' : 'other';
}

function combinations(axes: readonly AxisName[]): Names[] {
  return axes.reduce<Partial<Names>[]>(
    (all, axis) => all.flatMap((one) => Object.keys(AXES[axis]).map((name) => ({ ...one, [axis]: name }))),
    [{}],
  ) as Names[];
}

function conditionsOf(names: Names): Conditions {
  const values = Object.entries(names).map(([axis, name]) => {
    const axisValues: Readonly<Record<string, unknown>> = AXES[axis as AxisName];
    return [axis, axisValues[name]];
  });
  return Object.fromEntries(values) as Conditions;
}

function scenarioOf(id: string, conditions: Conditions): Scenario {
  const { sender, rttMs, loss, bufferBytes, queue, sizeBytes } = conditions;
  return {
    id,
    label: id,
    topology: {
      name: 'one link',
      sites: {
        origin: { role: 'origin', congestionControl: sender },
        client: { role: 'client', receiveBufferBytes: bufferBytes },
      },
      links: [
        {
          between: ['origin', 'client'],
          rttMs,
          rateBps: RATE_BPS,
          loss,
          queue: { bytes: Math.round((queue * RATE_BPS * rttMs) / 8000) },
        },
      ],
    },
    client: 'client',
    origin: 'origin',
    depots: [],
    sizeBytes,
    variants: { [LEG_VARIANT]: { kind: 'direct' } },
  };
}
