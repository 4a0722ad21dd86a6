import type { WhyLeft } from '../judge/why-left.ts';

/** Why a download was left to the browser, for people. */
const REASONS: Readonly<Record<WhyLeft, string>> = {
  off: 'Longhaul is off',
  'no-master': 'no master is set',
  incognito: 'it belongs to a private window',
  'not-http': 'it does not come from a web server',
  own: 'it is on its way through Longhaul already',
  'other-addon': 'another add-on started it',
  'not-running': 'it was not just beginning',
  post: 'it answers a form',
  'private-host': 'its host is private',
  'site-off': 'the site is switched off',
  small: 'it is small',
  'master-failed': 'the master gave no plan',
  'direct-is-best': 'no chain of depots is faster',
  'insecure-chain': 'the chain would give up its encryption',
  'depot-failed': 'the depot could not get the file',
  'different-file': 'the depot got something else',
  finished: 'it was finished first',
  'name-open': 'you were being asked where to save it',
  'nearly-done': 'it was nearly done',
};

export function explainLeft(why: WhyLeft): string {
  return REASONS[why];
}
