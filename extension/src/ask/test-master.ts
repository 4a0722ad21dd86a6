import { parseMasterAddress } from '../settings/parse-master-address.ts';
import { type AboutMaster, askAboutMaster } from './about-master.ts';
import { askMaster } from './ask-master.ts';

/** What a master does for whoever asks from here. */
export type MasterTest =
  /** It plans downloads from everywhere; `hasDepots`: whether any depot can be used now. */
  | (Answered & { readonly result: 'serves'; readonly hasDepots: boolean })
  /** It plans for this user only what its operator has named. */
  | (Answered & { readonly result: 'some-origins' })
  | { readonly result: 'bad-address' | 'no-access' | 'unreachable' | 'no-master' }
  /** Its links lead to another address, which is the one to set. */
  | { readonly result: 'elsewhere'; readonly address: string }
  /** Its own sentence. */
  | { readonly result: 'refused'; readonly message: string };

interface Answered {
  readonly milliseconds: number;
  /** What it tells of itself, where it does. */
  readonly about?: AboutMaster;
}

/**
 * A place that nobody downloads from (RFC 2606): the answer tells of the user, not of the place. A master without
 * TLS is asked for no other.
 */
const ANY_PLACE = { url: 'http://www.example.com/', sizeBytes: 1_000_000_000 };
/** Of these reasons no plan of the master's can be a chain now. */
const WITHOUT_DEPOTS = new Set(['chains-off', 'no-depots', 'no-depot-up']);

/**
 * Asks a master for a plan, as for a download, to see whether it serves this user, and what it says of itself.
 * @param hasAccess whether the user lets the add-on reach these addresses
 */
export async function testMaster(
  text: string,
  signal: AbortSignal,
  hasAccess: (urls: readonly string[]) => Promise<boolean>,
): Promise<MasterTest> {
  const master = parseMasterAddress(text);
  if (master === undefined) return { result: 'bad-address' };
  const started = performance.now();
  const reply = await askMaster(master, ANY_PLACE, signal);
  const milliseconds = Math.round(performance.now() - started);
  if (reply.result === 'silent') return { result: (await hasAccess([master])) ? 'unreachable' : 'no-access' };
  if (reply.result === 'no-master' || reply.result === 'insecure') return { result: 'no-master' };
  const about = await askAboutMaster(master, signal);
  const answered = { milliseconds, ...(about ? { about } : {}) };
  if (reply.result === 'refused') {
    const { code, message } = reply;
    return code === 'origin-not-allowed'
      ? { result: 'some-origins', ...answered }
      : { result: 'refused', message };
  }
  const { masterUrl, decisionReason } = reply.plan;
  if (!masterUrl.startsWith(`${master}/get/`)) return { result: 'elsewhere', address: originOf(masterUrl) };
  return { result: 'serves', ...answered, hasDepots: !WITHOUT_DEPOTS.has(decisionReason) };
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}
