import { LonghaulError } from '@longhaul/shared';
import { thinks, thoughtMs } from '../../origin/conversation.ts';
import { joinedPart } from '../../origin/joined-part.ts';
import { type Part, type Representation, readPart, readRepresentation } from '../../origin/representation.ts';
import { afterWaiting } from '../../racing/after-waiting.ts';
import type { TimedAnswer } from '../../routes/fetcher.ts';

/** A block that is asked for beside another answer has so many times what the way of that took ... */
const PATIENCE_TIMES = 2;
/** ... and this: an origin that gives one answer after the other gives none before the whole. */
const PATIENCE_MS = 500;

/** Told to a question that is given up. One for all: a reason of its own would have a stack, which nobody reads. */
const LATE = new Error('no block came beside the other answer');

/**
 * What came of a trial: the answer to the block, `unfit` of an origin that gives none of that file, `missed`
 * where no connection stood in time, or nothing that tells of the origin.
 */
export type Trial = TimedAnswer | 'unfit' | 'missed' | 'untold';

/** Asks for a block over the way of an answer that is there; `onStands` hears when that stands up to the origin. */
type AskBlock = (signal: AbortSignal, onStands: () => void) => Promise<TimedAnswer>;

/**
 * Asks for a block of a file whose whole is being answered, of which nothing has been read yet, and holds it
 * against that: there are origins that give each answer another tag, links that are good for one answer, and
 * servers that give one at a time. Who thinks before the block, too, would think before each.
 */
export async function tryBlock(
  whole: TimedAnswer,
  asked: Part,
  ask: AskBlock,
  signal: AbortSignal,
): Promise<Trial> {
  const part = readPart(whole.head);
  const representation = readRepresentation(whole.head);
  const isAll = part?.startByte === asked.startByte && part.endByte === representation?.sizeBytes;
  if (!representation || !isAll || part.endByte <= asked.endByte) return 'untold';
  return await askBeside(whole, representation, asked, ask, signal);
}

/**
 * The answer to a block with which lanes begin. An origin that has thought before it is asked once more, and
 * taken for one that thinks before each only where it does so again: a cache that did not have the file yet
 * is late once.
 */
export async function unhurried(
  first: TimedAnswer,
  asked: Part,
  ask: AskBlock,
  signal: AbortSignal,
): Promise<TimedAnswer> {
  const representation = readRepresentation(first.head);
  if (!representation || !thinks(first) || !isBlock(first, representation, asked)) return first;
  const again = await askBeside(first, representation, asked, ask, signal);
  if (typeof again === 'string') return first;
  first.connection.reset();
  return again;
}

/** Asks for a block of this version beside an answer, for no longer than one would take before which nobody thinks. */
async function askBeside(
  answered: TimedAnswer,
  representation: Representation,
  asked: Part,
  ask: AskBlock,
  signal: AbortSignal,
): Promise<Trial> {
  const wayMs = answered.answeredAtMs - answered.openedAtMs - thoughtMs(answered);
  const late = new AbortController();
  const stopWaiting = afterWaiting(PATIENCE_TIMES * wayMs + PATIENCE_MS, () => late.abort(LATE));
  let hasStood = false;
  const onStands = () => {
    hasStood = true;
  };
  const answer = await ask(AbortSignal.any([signal, late.signal]), onStands)
    .catch((failure: unknown) => {
      // What does not stand may have lost its first packet, which is sent again after a second.
      if (late.signal.aborted && !hasStood) return 'missed';
      return late.signal.aborted || isTheOrigins(failure) ? 'unfit' : 'untold';
    })
    .finally(stopWaiting);
  if (typeof answer === 'string') return answer;
  const isFit = isBlock(answer, representation, asked) && !thinks(answer);
  if (isFit && !signal.aborted) return answer;
  answer.connection.reset();
  return 'unfit';
}

/** Whether a failure is what an origin has answered with, and no way or depot. */
function isTheOrigins(failure: unknown): boolean {
  return failure instanceof LonghaulError && failure.blame === 'origin' && failure.depot === undefined;
}

/** Whether an answer is that block of this version. Lanes go by what it says of its version itself. */
function isBlock({ head }: TimedAnswer, representation: Representation, asked: Part): boolean {
  const joined = joinedPart(head, representation, asked);
  return joined.ok && joined.value.endByte === asked.endByte && readRepresentation(head) !== undefined;
}
