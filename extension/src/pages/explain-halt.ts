import { FORBIDDEN } from '../browser/download.ts';
import { isChromium } from '../browser/target.ts';
import type { RunningDownload } from '../messages/status.ts';
import { sayDuration } from '../texts/figures.ts';
import { say } from '../texts/say.ts';

type Halted = Pick<RunningDownload, 'state' | 'problem' | 'nextTryAtMs'>;

/** The browsers' words for what ended a connection, by their beginning. */
const BROWSERS_WORDS = [
  [/^NETWORK_DISCONNECTED/, 'haltNetworkAway'],
  [/^(NETWORK|SERVER_UNREACHABLE|SERVER_CONTENT_LENGTH_MISMATCH)/, 'haltBroke'],
  [/^SERVER/, 'haltRefused'],
  [/^(USER_SHUTDOWN|CRASH)/, 'haltBrowserEnded'],
  [/^FILE_NO_SPACE/, 'haltNoRoom'],
  [/^FILE_ACCESS_DENIED/, 'haltNoAccess'],
  [FORBIDDEN, 'haltForbidden'],
  [/^FILE/, 'haltNoWrite'],
  [/^no bytes$/, 'haltSilent'],
  [/^other file$/, 'haltOtherFile'],
  [/^other version$/, 'haltOtherVersion'],
] as const;

/** Why a download does not run, and what becomes of it, for people; empty while it runs. */
export function explainHalt({ state, problem, nextTryAtMs }: Halted, nowMs: number): string {
  const known = BROWSERS_WORDS.find(([words]) => words.test(problem));
  const sentences = [known ? say(known[1]) : problem, whatNext({ state, problem, nextTryAtMs }, nowMs)];
  return state === 'running' || state === 'starting' || state === 'done' ? '' : sentences.join(' ').trim();
}

function whatNext({ state, problem, nextTryAtMs }: Halted, nowMs: number): string {
  if (state === 'paused') return say('nextPaused');
  if (state === 'checked') return say('nextChecked');
  if (state === 'lost') return say('nextLost');
  // Firefox says no more than that it has failed.
  const mayLackRoom = problem === 'FILE_NO_SPACE' || (problem === 'FILE_FAILED' && !isChromium);
  if (state === 'stuck' && mayLackRoom) return say('nextStuck');
  if (state === 'stuck' || state === 'click') return say('nextClick');
  const leftMs = (nextTryAtMs ?? nowMs) - nowMs;
  return leftMs > 0
    ? say('nextTryIn', { time: sayDuration(Math.max(1, leftMs / 1_000)) })
    : say('nextTryNow');
}
