import type { CongestionControl } from '@longhaul/shared';
import { CASE_IDS, type CaseId, SELECTABLE_IDS, type SelectableId } from '../cases/case-id.ts';
import type { Load } from '../measure/measure-run.ts';
import type { HeldLine } from '../measure/relay-line.ts';

/** What the command line asks of a benchmark. */
export interface BenchOptions {
  readonly quick: boolean;
  readonly repeats?: number;
  readonly flows?: readonly number[];
  /** Left out: all. */
  readonly cases?: readonly SelectableId[];
  readonly congestionControl: CongestionControl;
}

export interface BenchPlan {
  readonly loads: readonly Load[];
  /** Of each load, for each relay, after one warm-up that is not counted. */
  readonly repeats: number;
  /** Flows that rest, once for each relay. */
  readonly held: readonly { readonly held: HeldLine['held']; readonly flows: number }[];
  /** Whether flows rest in rivals, too; each takes some seconds to settle. */
  readonly holdsRivals: boolean;
  /** What is measured beside. */
  readonly cases: readonly CaseId[];
}

const MB = 1e6;
/** Runs of one to three seconds through most relays. */
const TOTAL_BYTES = 2000 * MB;
/** What the targets speak of: bodies of at least so much, so that the set-up of a flow does not count. */
export const LARGE_BODY_BYTES = 100 * MB;
/** Above this many flows the question is another one: many small downloads at once. */
export const MOST_LARGE_FLOWS = 64;
const SMALL_BODY_BYTES = 8 * MB;
/** For a look in under a minute: still large enough for the set-up not to decide. */
const QUICK_TOTAL_BYTES = 300 * MB;
const QUICK_BODY_BYTES = 4 * MB;
const QUICK_SMALL_BODY_BYTES = 1 * MB;

const USUAL_FLOWS = [1, 8, 64, 1000];
const QUICK_FLOWS = [1, 64];
const USUAL_REPEATS = 5;
const QUICK_REPEATS = 3;

/** Decides what is run. */
export function planBench({
  quick,
  repeats,
  flows = quick ? QUICK_FLOWS : USUAL_FLOWS,
  cases = SELECTABLE_IDS,
}: BenchOptions): BenchPlan {
  const loads = flows.map((count) => ({ flows: count, bodyBytes: bodyBytesOf(count, quick) }));
  const held: BenchPlan['held'] = [
    { held: 'idle', flows: quick ? 200 : 1000 },
    { held: 'stalled', flows: quick ? 20 : 200 },
    ...(quick ? [] : [{ held: 'capped' as const, flows: 200 }]),
  ];
  return {
    loads: cases.includes('bodies') ? loads : [],
    repeats: repeats ?? (quick ? QUICK_REPEATS : USUAL_REPEATS),
    held: cases.includes('rest') ? held : [],
    holdsRivals: !quick,
    cases: CASE_IDS.filter((id) => cases.includes(id)),
  };
}

function bodyBytesOf(flows: number, quick: boolean): number {
  if (flows > MOST_LARGE_FLOWS) return quick ? QUICK_SMALL_BODY_BYTES : SMALL_BODY_BYTES;
  if (quick) return Math.max(QUICK_BODY_BYTES, Math.floor(QUICK_TOTAL_BYTES / flows));
  return Math.max(LARGE_BODY_BYTES, Math.floor(TOTAL_BYTES / flows));
}

/** Whether a load is one that the targets for large bodies speak of. */
export function isLarge({ flows, bodyBytes }: Load): boolean {
  return flows <= MOST_LARGE_FLOWS && bodyBytes >= LARGE_BODY_BYTES;
}

/** The order of relays in a repetition: there in odd ones, back in even ones, so that drift hits all alike. */
export function turnsOf<T>(relays: readonly T[], repeat: number): readonly T[] {
  return repeat % 2 === 1 ? relays : relays.toReversed();
}
