import type { HeldAnswer } from '../browser/diversions.ts';
import type { Download } from '../browser/download.ts';
import { isRepeatable } from '../judge/why-not-shared.ts';
import { orderByAnswer, type TakeDependencies } from '../take/take-download.ts';
import { withoutFragment } from '../url-fragment.ts';
import { toAnswer } from '../watch/seen-answers.ts';
import type { TakeOrder } from '../ways/way.ts';
import { isDownloadAnswer } from './is-download-answer.ts';

/** The id of a download that there is not yet. */
const NONE = -1;
const DEFAULT_COOKIE_STORE = 'firefox-default';

/**
 * Firefox holds an answer until this is settled: the order by which its file comes through depots, or `undefined` where it is left
 * as it is. All is judged that is judged of a download, before a byte of the body has been read.
 */
export async function divertAnswer(held: HeldAnswer, deps: TakeDependencies): Promise<TakeOrder | undefined> {
  const seen = toAnswer(held);
  // What must be asked for in one piece needs a header that a redirect does not have.
  if (!isDownloadAnswer(seen.headers) || !isRepeatable(seen.headers)) return undefined;
  const outcome = await orderByAnswer(asDownload(held, deps.now()), seen, deps);
  return 'plan' in outcome ? outcome : undefined;
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
    isContained: (cookieStoreId ?? DEFAULT_COOKIE_STORE) !== DEFAULT_COOKIE_STORE,
    referrer: '',
    addonId: undefined,
  };
}
