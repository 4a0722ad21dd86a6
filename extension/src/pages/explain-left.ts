import { isChromium } from '../browser/target.ts';
import type { Left, WhyLeft } from '../judge/why-left.ts';
import type { UntoldWhy } from '../take/last-left.ts';
import { say } from '../texts/say.ts';

/** What one browser never meets its package has no sentence for. */
interface OwnReasons {
  readonly 'depot-taken': 'leftDepotTaken';
  readonly 'system-proxy': 'leftSystemProxy';
  readonly container: 'leftContainer';
  readonly socks: 'leftSocks';
}

/** Why a download was left to the browser, and what to do about it. */
const REASONS = {
  'private-host': 'leftPrivateHost',
  'private-address': 'leftPrivateAddress',
  'site-off': 'leftSiteOff',
  tunnel: 'leftTunnel',
  'not-https': 'leftNotHttps',
  'key-held': 'leftKeyHeld',
  kind: 'leftKind',
  small: 'leftSmall',
  'no-access': 'leftNoAccess',
  unseen: 'leftUnseen',
  post: 'leftPost',
  'saved-as': 'leftSavedAs',
  personal: 'leftPersonal',
  encoded: 'leftEncoded',
  'no-ranges': 'leftNoRanges',
  'no-version': 'leftNoVersion',
  'master-silent': 'leftMasterSilent',
  'master-refused': 'leftMasterRefused',
  'no-master-there': 'leftNoMasterThere',
  'master-elsewhere': 'leftMasterElsewhere',
  'plan-unfit': 'leftPlanUnfit',
  'direct-is-best': 'leftDirectIsBest',
  'insecure-chain': 'leftInsecureChain',
  'depot-silent': 'leftDepotSilent',
  'depot-refused': 'leftDepotRefused',
  'different-file': 'leftDifferentFile',
  finished: 'leftFinished',
  warned: 'leftWarned',
  'nearly-done': 'leftNearlyDone',
  'no-room': 'leftNoRoom',
  ...((isChromium
    ? { 'depot-taken': 'leftDepotTaken', 'system-proxy': 'leftSystemProxy' }
    : { container: 'leftContainer', socks: 'leftSocks' }) as Partial<OwnReasons> as OwnReasons),
} as const satisfies Readonly<Record<Exclude<WhyLeft, UntoldWhy>, string>>;

/** The reason with what to do, and what the master or the depot says itself. */
export function explainLeft({ why, detail }: Left): string {
  // `LastLeft` keeps no other.
  const reason = say(REASONS[why as keyof typeof REASONS]);
  return detail ? `${reason} ${say('said', { words: detail })}` : reason;
}
