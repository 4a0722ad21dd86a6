import type { Sign } from '../browser/sign.ts';
import { type Job, waitsForUser } from '../jobs/job.ts';
import { explainHalt } from '../pages/explain-halt.ts';
import { sayCount } from '../texts/figures.ts';
import { say } from '../texts/say.ts';
import { newsOf } from './news-of.ts';

/** Shows on the button how many downloads run or whether one waits for the user, and tells what changed. */
export async function tellNews(before: readonly Job[], after: readonly Job[], sign: Sign): Promise<void> {
  await showBadge(after, sign);
  for (const { kind, job } of newsOf(before, after)) {
    const { key, name, state } = job;
    if (kind === 'rescued') await sign.notice(key, say('noticeRescuedTitle'), say('noticeRescued', { name }));
    else {
      const why = explainHalt({ state, problem: job.interruption?.problem ?? '', nextTryAtMs: undefined }, 0);
      await sign.notice(key, say('noticeFailedTitle'), say('noticeFailed', { name, why }));
    }
  }
}

/** To be called when the background starts, too: browsers forget it with each of their starts. */
export async function showBadge(jobs: readonly Job[], sign: Sign): Promise<void> {
  const running = jobs.filter(({ state }) => state !== 'done' && state !== 'lost').length;
  const isTrouble = jobs.some(waitsForUser);
  const text = isTrouble ? '!' : running > 0 ? sayCount(running) : '';
  await sign.badge(text, isTrouble, isTrouble ? say('badgeTrouble') : 'Longhaul');
}
