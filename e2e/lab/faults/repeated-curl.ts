import { setTimeout as delay } from 'node:timers/promises';
import { type CurlAttempt, curlAttempt } from '../transfers/curl-attempt.ts';
import type { TransferRequest } from '../transfers/transfer.ts';

/** A user's script waits a moment before it tries again. */
const RETRY_DELAY_MS = 500;
/** More often nobody tries; with the delay it is longer than a master takes to notice that a depot is gone. */
const MOST_ATTEMPTS = 20;
/**
 * Without these curl waits for ever on a connection that says nothing. It knows the mean of its last looks,
 * five seconds: where not a byte has come in those, it gives up a second later, about seven after the last
 * byte.
 */
const STALL_OPTIONS = ['--connect-timeout', '5', '--speed-limit', '1', '--speed-time', '1'];

/**
 * The same address again and again with `curl -C -`, until it has the file, too many tries or `cutSeconds`
 * are over.
 */
export async function repeatedCurl(
  request: TransferRequest,
  place: { readonly folder: string; readonly output: string },
): Promise<readonly [CurlAttempt, ...CurlAttempt[]]> {
  const endMs = performance.now() + request.cutSeconds * 1000;
  const options = ['--continue-at', '-', ...STALL_OPTIONS];
  const once = () => {
    const cutSeconds = Math.max((endMs - performance.now()) / 1000, 0.1);
    return curlAttempt({ ...request, cutSeconds }, { ...place, options });
  };
  const first = await once();
  const others: CurlAttempt[] = [];
  for (let last = first; last.failure !== undefined && others.length < MOST_ATTEMPTS - 1; ) {
    await delay(RETRY_DELAY_MS);
    if (performance.now() >= endMs) break;
    last = await once();
    others.push(last);
  }
  return [first, ...others];
}
