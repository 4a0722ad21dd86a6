import { ERRORS, isWireErrorCode } from '@longhaul/shared';

/** Why a download was left to the browser. */
export type WhyLeft =
  | 'off'
  | 'no-master'
  | 'incognito'
  | 'container'
  | 'not-http'
  | 'not-https'
  | 'own'
  | 'other-addon'
  | 'not-running'
  | 'private-host'
  | 'private-address'
  | 'key-held'
  | 'site-off'
  | 'tunnel'
  | 'socks'
  | 'kind'
  | 'small'
  | 'no-access'
  | 'unseen'
  | 'post'
  | 'saved-as'
  | 'personal'
  | 'encoded'
  | 'no-ranges'
  | 'no-version'
  | 'master-silent'
  | 'master-refused'
  | 'no-master-there'
  | 'master-elsewhere'
  | 'plan-unfit'
  | 'direct-is-best'
  | 'insecure-chain'
  | 'depot-silent'
  | 'depot-refused'
  | 'depot-taken'
  | 'system-proxy'
  | 'different-file'
  | 'finished'
  | 'warned'
  | 'nearly-done'
  | 'no-room';

/** A reason with what somebody else said about it, in his own words. */
export interface Left {
  readonly why: WhyLeft;
  readonly detail?: string;
  /** Whether no download was started, so that none came directly. */
  readonly isUnstarted?: true;
}

/** A download is left to the browser for this reason. */
export function left(why: WhyLeft, detail?: string): Left {
  return { why, detail };
}

/** `taken`, or why a download was left as it was. */
export type Outcome = 'taken' | Left;

/** A registered code as a sentence for people; an unknown one as it is. */
export function sayCode(code: string): string {
  return isWireErrorCode(code) ? `${ERRORS[code].message} (${code})` : code;
}
