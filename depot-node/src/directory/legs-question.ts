import { legsText, ok, parseLegsTarget, type Result } from '@longhaul/shared';
import { checkMastersWord, type MastersWordComponents } from './masters-word.ts';

interface LegsQuestionComponents extends MastersWordComponents {
  readonly ownId: string;
}

/**
 * The id of the job that a master asks for; `bad-request` for whatever is no question of a master to this
 * depot, now, or `signature-checks-spent` where too many from that address were forged.
 */
export function readLegsQuestion(
  target: string,
  from: string,
  components: LegsQuestionComponents,
): Result<string> {
  const question = parseLegsTarget(target);
  if (!question.ok) return question;
  const { jobId } = question.value;
  const word = { ...question.value, what: 'the question', text: legsText(components.ownId, question.value) };
  const checked = checkMastersWord(word, from, components);
  return checked.ok ? ok(jobId) : checked;
}
