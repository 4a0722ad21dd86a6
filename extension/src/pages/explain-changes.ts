import type { Job } from '../jobs/job.ts';
import { sayCount } from '../texts/figures.ts';
import { say } from '../texts/say.ts';

/** What happened to a download on its way, for people; nothing of one that came as it was planned. */
export function explainChanges({
  way,
  changes = 0,
  lastChange,
  breaks = 0,
  restarts = 0,
}: Pick<Job, 'way' | 'choseDirect' | 'changes' | 'lastChange' | 'breaks'> &
  Partial<Pick<Job, 'restarts'>>): readonly string[] {
  const sentences: string[] = [];
  // What the user chose to come directly is said to, where the chain would be.
  if (lastChange?.isAsked && way === 'chain') sentences.push(say('choseElsewhere'));
  else if (lastChange && !lastChange.isAsked) sentences.push(say('slowChanged'));
  else if (!lastChange && changes > 0) sentences.push(say('slowNoOther'));
  if (breaks > 0) sentences.push(say('wentOn', { count: sayCount(breaks) }));
  if (restarts > 0) sentences.push(say('beganAgain', { count: sayCount(restarts) }));
  return sentences;
}
