import { BARE_REQUEST } from '../ask/bare-request.ts';
import { api } from '../browser/browser-api.ts';

/** A name that nobody has (RFC 6761): who looks it up himself hears so at once, and a proxy says it otherwise. */
const NOWHERE = '://longhaul.invalid/';
/** What a proxy has to say that it finds nobody there, to each of two questions. */
const NOWHERE_MS = 3_000;
/**
 * What of a proxy alone can come over https: Chromium's words for it, and what no site can say before it has
 * shown a good certificate.
 */
const OF_PROXIES = /^\d|PROXY|TUNNEL|SOCKS|EMPTY_RESPONSE|INVALID_HTTP/;
/** A proxy that promises connections before it has them, or somebody else who takes all of them. */
const UNCLEAR = /^$|CONNECTION_CLOSED/;
/** A proxy's word for a name without an address; who gives it one shows a page of his own. */
const OF_HTTP_PROXIES = /^[45]|PROXY|SOCKS/;

/**
 * Whether Chromium asks a proxy for what is far, as its system says. It tells no add-on what its system says,
 * but why a request has failed. Never rejects.
 */
export async function usesSystemProxy(): Promise<boolean> {
  const end = await endOf(`https${NOWHERE}`);
  // What is not encrypted a proxy answers itself.
  return UNCLEAR.test(end) ? OF_HTTP_PROXIES.test(await endOf(`http${NOWHERE}`)) : OF_PROXIES.test(end);
}

/** How a request ends: an answer's status, or Chromium's word for its failure; empty where all are silent. */
async function endOf(url: string): Promise<string> {
  const { onErrorOccurred } = api.webRequest;
  const signal = AbortSignal.timeout(NOWHERE_MS);
  const failed = Promise.withResolvers<string>();
  const hear = ({ error }: { readonly error: string }): void => failed.resolve(signal.aborted ? '' : error);
  onErrorOccurred.addListener(hear, { urls: [url] });
  signal.addEventListener('abort', () => failed.resolve(''));
  const end = await fetch(url, { ...BARE_REQUEST, redirect: 'manual', signal }).then(
    ({ status }) => `${status}`,
    () => failed.promise,
  );
  onErrorOccurred.removeListener(hear);
  return end;
}
