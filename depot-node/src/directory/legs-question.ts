import { legsText, ok, parseLegsTarget, type Result, refuse } from '@longhaul/shared';
import type { VerifySignature } from '@longhaul/shared/service';
import { whyNotMasters } from './masters-word.ts';

interface LegsQuestionComponents {
  readonly ownId: string;
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  readonly nowMs: () => number;
}

/**
 * The id of the job that a master asks for; `bad-request` for whatever is no question of a master to this
 * depot, now.
 */
export function readLegsQuestion(target: string, components: LegsQuestionComponents): Result<string> {
  const question = parseLegsTarget(target);
  if (!question.ok) return question;
  const word = { ...question.value, text: legsText(components.ownId, question.value) };
  const why = whyNotMasters(word, components);
  return why === undefined ? ok(question.value.jobId) : refuse('bad-request', `the question is ${why}`);
}
