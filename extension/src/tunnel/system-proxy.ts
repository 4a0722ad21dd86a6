import { BARE_REQUEST } from '../ask/bare-request.ts';
import { api } from '../browser/browser-api.ts';

/** A name that nobody has (RFC 6761): who looks it up himself hears so at once, and a proxy says it otherwise. */
const NOWHERE = 'https://longhaul.invalid/';
/** What a proxy has to say that it finds nobody there. Where nobody says anything one may be at work. */
const NOWHERE_MS = 3_000;
/** Chromium's words for what proxies do. One that promises connections before it has them closes this one. */
const OF_PROXIES = /PROXY|TUNNEL|SOCKS|CONNECTION_CLOSED/;

/**
 * Whether Chromium asks a proxy for what is far, as its system says. It tells no add-on what its system says,
 * but why a request has failed. Never rejects.
 */
export async function usesSystemProxy(): Promise<boolean> {
  const { onErrorOccurred } = api.webRequest;
  const signal = AbortSignal.timeout(NOWHERE_MS);
  const failed = Promise.withResolvers<boolean>();
  const hear = ({ error }: { readonly error: string }): void =>
    failed.resolve(signal.aborted || OF_PROXIES.test(error));
  onErrorOccurred.addListener(hear, { urls: [`${NOWHERE}*`] });
  signal.addEventListener('abort', () => failed.resolve(true));
  // Nobody but a proxy can have answered.
  const answered = fetch(NOWHERE, { ...BARE_REQUEST, redirect: 'manual', signal }).then(
    () => true,
    () => failed.promise,
  );
  const isUsed = await answered;
  onErrorOccurred.removeListener(hear);
  return isUsed;
}
