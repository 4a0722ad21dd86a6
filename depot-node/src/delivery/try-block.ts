import { isWayFailure } from '@longhaul/shared';
import { thinks } from '../origin/conversation.ts';
import { joinedPart } from '../origin/joined-part.ts';
import { type Part, readPart, readRepresentation } from '../origin/representation.ts';
import type { TimedAnswer } from '../routes/fetcher.ts';

/** A block that is asked for beside the whole has so many times what that took ... */
const PATIENCE_TIMES = 2;
/** ... and this: an origin that gives one answer after the other gives none before the whole. */
const PATIENCE_MS = 500;

/** What came of a trial: the answer to the block, `unfit` of an origin that gives none of that file, or nothing that tells of the origin. */
export type Trial = TimedAnswer | 'unfit' | 'untold';

/**
 * Asks for a block of a file whose whole is being answered, of which nothing has been read yet, and holds it against that: there are origins that give each answer
 * another tag, links that are good for one answer, and servers that give one at a time. `ask` asks for the block over the way of the whole.
 */
export async function tryBlock(
  whole: TimedAnswer,
  asked: Part,
  ask: (signal: AbortSignal) => Promise<TimedAnswer>,
  signal: AbortSignal,
): Promise<Trial> {
  const part = readPart(whole.head);
  const representation = readRepresentation(whole.head);
  const isAll = part?.startByte === asked.startByte && part.endByte === representation?.sizeBytes;
  if (!representation || !isAll || part.endByte <= asked.endByte) return 'untold';
  if (thinks(whole)) return 'unfit';
  const patienceMs = PATIENCE_TIMES * (whole.answeredAtMs - whole.openedAtMs) + PATIENCE_MS;
  const late = AbortSignal.timeout(Math.ceil(patienceMs));
  const answer = await ask(AbortSignal.any([signal, late])).catch((failure: unknown) =>
    late.aborted || !isWayFailure(failure) ? 'unfit' : 'untold',
  );
  if (typeof answer === 'string') return answer;
  const joined = joinedPart(answer.head, representation, asked);
  const isAsked = joined.ok && joined.value.endByte === asked.endByte;
  // Lanes go by what the block itself says of its version.
  if (isAsked && readRepresentation(answer.head) && !signal.aborted) return answer;
  answer.connection.reset();
  return 'unfit';
}
