import type { DownloadRequest, IssuedPlan } from './issued-plan.ts';
import { type LastGiven, SAME_PLAN_MS } from './plan-cache.ts';

/**
 * A client that comes sooner after it was told its way has lost nothing: download managers begin all their
 * connections within a second.
 */
const COMES_BACK_AFTER_MS = 1_000;
/**
 * Whoever asks for a plan proves its way before it comes for it: the add-on takes up to its deadline of some
 * seconds, twice.
 */
const COMES_FOR_IT_MS = 15_000;
/** Entry depots that a client is not led back to: more than that have not failed together. */
const MOST_LEFT = 3;

/**
 * The entry depots that a client comes back from for the rest of its file, the last one last: `last` is what it
 * got for the same thing. None where it only asks once more, or says itself which depots it wants.
 */
export function leftEntries(
  { isResume, options }: Pick<DownloadRequest, 'isResume' | 'options'>,
  last: LastGiven<IssuedPlan> | undefined,
  nowMs: number,
): readonly string[] {
  const [entry] = last?.plan.chain ?? [];
  if (!isResume || !last || entry === undefined || options.via?.length) return [];
  const isLed = Math.abs(nowMs - last.toldAtMs) < (last.isAwaited ? COMES_FOR_IT_MS : COMES_BACK_AFTER_MS);
  if (isLed) return [];
  const agoMs = Math.abs(nowMs - last.madeAtMs);
  const before = agoMs < SAME_PLAN_MS ? last.plan.left.filter((id) => id !== entry) : [];
  return [...before, entry].slice(-MOST_LEFT);
}
