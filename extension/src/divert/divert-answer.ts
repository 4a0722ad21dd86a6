import type { HeldAnswer } from '../browser/diversions.ts';
import { type Download, isContainer } from '../browser/download.ts';
import type { Left } from '../judge/why-left.ts';
import { isRepeatable } from '../judge/why-not-shared.ts';
import { orderByAnswer, type TakeDependencies } from '../take/take-download.ts';
import { withoutFragment } from '../url-fragment.ts';
import type { SeenAnswer } from '../watch/seen-answers.ts';
import type { TakeOrder } from '../ways/way.ts';
import { isDownloadAnswer } from './is-download-answer.ts';

/** The id of a download that there is not yet. */
const NONE = -1;

/**
 * Firefox holds an answer until this is settled: the order by which its file comes through depots, or why it
 * does not; `undefined` where that was no question. All is judged that is judged of a download, before a byte
 * of the body has been read.
 */
export async function divertAnswer(
  held: HeldAnswer,
  seen: SeenAnswer,
  deps: TakeDependencies,
): Promise<TakeOrder | Left | undefined> {
  // What must be asked for in one piece needs a header that a redirect does not have.
  if (!isDownloadAnswer(seen.headers) || !isRepeatable(seen)) return undefined;
  return orderByAnswer(asDownload(held, deps.now()), seen, deps);
}

/** The request as the download that it would become. */
function asDownload({ url, incognito = false, cookieStoreId }: HeldAnswer, nowMs: number): Download {
  return {
    id: NONE,
    url: withoutFragment(url),
    finalUrl: withoutFragment(url),
    name: '',
    folder: '',
    mime: '',
    totalBytes: undefined,
    bytesReceived: 0,
    startedAtMs: nowMs,
    state: 'in_progress',
    paused: false,
    error: undefined,
    canResume: false,
    incognito,
    isWarnedOf: false,
    isContained: isContainer(cookieStoreId),
    referrer: '',
    addonId: undefined,
  };
}
