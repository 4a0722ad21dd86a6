/** What a package says: no sentence is in it that its browser never shows. */
import { ERRORS, type ErrorCode, type ErrorEntry } from '@longhaul/shared';

/**
 * What masters say to operators and to depots alone, depots to each other, and both to who asks for what the
 * add-on never does, such as stepwise signalling, or to requests of which it reads no code: those for tunnels, for
 * legs, and with feedback.
 */
const OF_OTHERS: ReadonlySet<string> = new Set<ErrorCode>([
  'caller-not-proved',
  'depot-address-not-allowed',
  'depot-registry-full',
  'feedback-limited',
  'handover-missing',
  'job-unknown',
  'join-tokens-full',
  'master-bad-answer',
  'master-unreachable',
  'method-not-allowed',
  'name-not-listed',
  'no-other-chain',
  'signature-checks-spent',
  'ticket-missing',
  'ticket-other-wanted',
  'ticket-wrong-kind',
  'too-many-challenges',
  'via-not-allowed',
  'worker-script-refused',
]);
/** Failures that never travel over HTTP, and those that masters tell depots of: nobody tells the add-on of them. */
const UNHEARD = Object.entries(ERRORS).filter(
  ([code, { status, blame, direct }]) =>
    status === 0 || (blame === 'depot' && status !== 503 && !direct) || OF_OTHERS.has(code),
);

/** A script without the failures of which nobody tells the add-on. */
export function withoutUnheard(script: string): string {
  return UNHEARD.reduce((text, [name, failure]) => withoutEntry(text, name, failure), script);
}

/**
 * Stops a build that would say a code whose entry has been left out: whoever asks for its sentence would meet
 * nothing.
 */
export function requireSentences(scripts: readonly string[]): void {
  const said = UNHEARD.map(([code]) => code).filter((code) =>
    scripts.some((script) => new RegExp(`["'\`]${code}["'\`]`).test(script)),
  );
  if (said.length > 0) throw new Error(`The add-on says what it has no sentence for: ${said.join(', ')}.`);
}

/**
 * Tells whether a package names a sentence: what only another browser's says is left out. Stops a build in
 * which such a name is put together while it runs, so that nobody could see it here.
 */
export function namedIn(scripts: readonly string[], others: readonly string[]): (key: string) => boolean {
  const composed = scripts.find((script) => /\bsay(?:\$\d+)?\(\s*`[^`]*\$\{/.test(script));
  if (composed !== undefined) throw new Error('The add-on puts the name of a sentence together.');
  const words = new Set([...scripts, ...others].flatMap((text) => text.match(/[a-z]+/gi) ?? []));
  return (key) => words.has(key);
}

/** A script without one entry of the table of failures. */
function withoutEntry(script: string, name: string, { status, message }: ErrorEntry): string {
  const entry = new RegExp(`["'\`]${name}["'\`]:\\s*entry\\(\\s*${status},[^()]*\\),?`);
  return script.replaceAll(message, '').replace(entry, '');
}
