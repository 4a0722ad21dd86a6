import { ratioInterval } from '../../lab/report/numbers.ts';
import type { TargetOutcome } from '../../lab/report/report-plan.ts';
import { ratioOfMedians } from '../../lab/results/statistics.ts';
import type { CaseLine } from '../cases/case-line.ts';
import type { HeldLine } from '../measure/relay-line.ts';
import type { RelayId } from '../relays/relay-id.ts';
import { isLarge } from '../run/plan-bench.ts';
import { caseTargets } from './case-targets.ts';
import { cellOf, type RelayCell } from './relay-cells.ts';
import type { TargetRow } from './target-row.ts';

/** Whose figures the promises are about. */
const OURS: RelayId = 'longhaul-splice';

/** At most so much of a rival's CPU by GB, with the bound after the next one. */
const CPU_AT_MOST: readonly (readonly [rival: RelayId, first: number, then?: number])[] = [
  ['haproxy-splice', 1.25, 1.05],
  ['nginx-best', 0.45],
  ['nginx-unbuffered', 0.2],
  ['squid', 0.1],
  ['node-pipe', 0.2],
];
/** At least so much of a rival's goodput. */
const GOODPUT_AT_LEAST: readonly (readonly [rival: RelayId, first: number, then?: number])[] = [
  ['haproxy-splice', 0.8, 1],
  ['nginx-best', 1.8],
];
/** With many small bodies the set-up of a flow counts. */
const MANY_FLOWS = 1000;
const MANY_CPU_AT_MOST = 0.65;
const IDLE_BYTES_AT_MOST = 25_000;
const STALLED_CPU_AT_MOST = 0.01;
const STALLED_GROWTH_AT_MOST = 10e6;
/** Two buffers of 256 KiB, which Linux counts double, and what it sets aside. */
const CAPPED_BYTES_AT_MOST = 1.25e6;

const UNKNOWN: TargetOutcome = { measured: '', isMet: null };

/** Every promise about the relay, held against a result. */
export function relayTargets(
  cells: readonly RelayCell[],
  held: readonly HeldLine[],
  cases: readonly CaseLine[] = [],
): TargetRow[] {
  const large = [...new Set(cells.filter(isLarge).map(({ flows }) => flows))];
  return [
    ...large.flatMap((flows) => [
      ...CPU_AT_MOST.map((bound) => cpuRow(cells, flows, ...bound)),
      ...GOODPUT_AT_LEAST.map((bound) => goodputRow(cells, flows, ...bound)),
    ]),
    cpuRow(cells, MANY_FLOWS, 'nginx-best', MANY_CPU_AT_MOST),
    heldRow(
      held,
      'idle',
      `memory at most ${IDLE_BYTES_AT_MOST / 1000} kB each`,
      ({ rssGrowthBytes, flows }) => ({
        measured: `${(rssGrowthBytes / flows / 1000).toFixed(1)} kB`,
        isMet: rssGrowthBytes / flows <= IDLE_BYTES_AT_MOST,
      }),
    ),
    heldRow(held, 'stalled', 'under 1 % of a core', ({ cpuShare }) => ({
      measured: `${(cpuShare * 100).toFixed(2)} %`,
      isMet: cpuShare < STALLED_CPU_AT_MOST,
    })),
    heldRow(held, 'stalled', 'process grows by less than 10 MB', ({ rssGrowthBytes }) => ({
      measured: `${(rssGrowthBytes / 1e6).toFixed(1)} MB`,
      isMet: rssGrowthBytes < STALLED_GROWTH_AT_MOST,
    })),
    heldRow(
      held,
      'capped',
      'kernel memory bounded by the configuration: at most 1.25 MB of its sockets each',
      ({ socketBytes, flows }) => ({
        measured: `${(socketBytes / flows / 1e6).toFixed(2)} MB`,
        isMet: socketBytes / flows <= CAPPED_BYTES_AT_MOST,
      }),
    ),
    ...caseTargets(cases),
  ];
}

type Bound = readonly [rival: RelayId, first: number, then?: number];

function cpuRow(cells: readonly RelayCell[], flows: number, ...[rival, first, then]: Bound): TargetRow {
  const text = `CPU at most ${first} x \`${rival}\`${then === undefined ? '' : ` (then ${then})`}`;
  const values = (cell: RelayCell) => cell.cpuSecondsPerGB;
  return { place: placeOf(flows), text, ...outcome(cells, flows, rival, values, (ratio) => ratio <= first) };
}

function goodputRow(cells: readonly RelayCell[], flows: number, ...[rival, first, then]: Bound): TargetRow {
  const text = `goodput at least ${first} x \`${rival}\`${then === undefined ? '' : ` (then ${then})`}`;
  const values = (cell: RelayCell) => cell.goodputsBps;
  return { place: placeOf(flows), text, ...outcome(cells, flows, rival, values, (ratio) => ratio >= first) };
}

function outcome(
  cells: readonly RelayCell[],
  flows: number,
  rival: RelayId,
  values: (cell: RelayCell) => readonly number[],
  isMet: (ratio: number) => boolean,
): TargetOutcome {
  const [ours, theirs] = [cellOf(cells, OURS, flows), cellOf(cells, rival, flows)];
  const estimate = ours && theirs && ratioOfMedians(values(ours), values(theirs));
  return estimate ? { measured: ratioInterval(estimate), isMet: isMet(estimate.value) } : UNKNOWN;
}

function heldRow(
  held: readonly HeldLine[],
  kind: HeldLine['held'],
  text: string,
  check: (line: HeldLine) => TargetOutcome,
): TargetRow {
  const line = held.find((one) => one.relay === OURS && one.held === kind);
  return {
    place: line ? `${line.flows} ${kind} flows` : `${kind} flows`,
    text,
    ...(line ? check(line) : UNKNOWN),
  };
}

function placeOf(flows: number): string {
  return flows === 1 ? '1 flow' : `${flows} flows`;
}
