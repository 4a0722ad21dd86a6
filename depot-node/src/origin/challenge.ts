import type { VersionHead } from './representation.ts';

/** Said by Amazon's firewall with a puzzle, which is a 405, and with a question to a browser, which is a 202. */
const FIREWALL = 'x-amzn-waf-action';

/**
 * Whether an answer is no file but asks who looks like a program to prove that it is none. A 202 is never a
 * file (https://docs.aws.amazon.com/waf/latest/APIReference/API_ChallengeAction.html), and programs take it
 * for one.
 */
export function isChallenge({ statusCode, headers }: VersionHead): boolean {
  return statusCode === 202 || headers[FIREWALL] !== undefined;
}
