import type { Left, WhyLeft } from '../judge/why-left.ts';
import { say } from '../texts/say.ts';

/** Why a download was left to the browser, and what to do about it. */
const REASONS = {
  off: 'leftOff',
  'no-master': 'leftNoMaster',
  incognito: 'leftIncognito',
  container: 'leftContainer',
  'not-http': 'leftNotHttp',
  own: 'leftOwn',
  'other-addon': 'leftOtherAddon',
  'not-running': 'leftNotRunning',
  'private-host': 'leftPrivateHost',
  'private-address': 'leftPrivateAddress',
  'site-off': 'leftSiteOff',
  tunnel: 'leftTunnel',
  socks: 'leftSocks',
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
  'depot-taken': 'leftDepotTaken',
  'different-file': 'leftDifferentFile',
  finished: 'leftFinished',
  warned: 'leftWarned',
  'nearly-done': 'leftNearlyDone',
  'no-room': 'leftNoRoom',
} as const satisfies Readonly<Record<WhyLeft, string>>;

/** The reason with what to do, and what the master or the depot says itself. */
export function explainLeft({ why, detail }: Left): string {
  const reason = say(REASONS[why]);
  return detail ? `${reason} ${say('said', { words: detail })}` : reason;
}
