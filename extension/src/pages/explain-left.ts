import type { Left, WhyLeft } from '../judge/why-left.ts';

/** Why a download was left to the browser, for people. */
const REASONS: Readonly<Record<WhyLeft, string>> = {
  off: 'Longhaul is off',
  'no-master': 'no master is set',
  incognito: 'it belongs to a private window',
  container: 'it belongs to a container tab',
  'not-http': 'it does not come from a web server',
  own: 'it is on its way through Longhaul already',
  'other-addon': 'another add-on started it',
  'not-running': 'it was not just beginning',
  'private-host': 'its host is private',
  'private-address': 'its host has a private address here',
  'site-off': 'the site is switched off',
  'key-held': 'you held the key that leaves it to the browser',
  kind: 'you do not want files of its kind through depots',
  small: 'it is small',
  'no-access': 'Longhaul may not reach its site, the master or the depot: allow it in the popup',
  unseen: 'the browser did not show how it was asked for',
  post: 'it answers a form',
  'saved-as': 'where to save it was for you to choose',
  personal: 'the site made it for you',
  encoded: 'the site compresses it on the way',
  'no-ranges': 'the site does not let downloads be continued',
  'no-version': 'the site does not say which version of the file it is',
  'master-silent': 'the master did not answer in time',
  'master-refused': 'the master refused',
  'no-master-there': 'what answers at the master’s address is no master',
  'master-elsewhere': 'the master calls itself by another address than the one in the options',
  'plan-unfit': 'the master’s plan led elsewhere',
  'direct-is-best': 'no chain of depots is faster',
  'insecure-chain': 'the chain would give up its encryption',
  'depot-silent': 'the depot did not answer in time',
  'depot-refused': 'the depot could not get the file',
  'different-file': 'the depot got another version of the file',
  finished: 'it was finished first',
  'nearly-done': 'it was nearly done',
  'no-room': 'the browser has no room to remember it: clear the list in the popup, or make room on the disk',
};

/** A sentence's end, and what the master or the depot says itself. */
export function explainLeft({ why, detail }: Left): string {
  return detail ? `${REASONS[why]}: ${detail}` : `${REASONS[why]}.`;
}
