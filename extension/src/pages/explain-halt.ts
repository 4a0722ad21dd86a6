import type { RunningDownload } from '../messages/status.ts';
import { formatSeconds } from './format-seconds.ts';

type Halted = Pick<RunningDownload, 'state' | 'problem' | 'nextTryAtMs'>;

/** The browsers' words for what ended a connection, by their beginning. */
const BROWSERS_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^NETWORK_DISCONNECTED/, 'The network was away.'],
  [/^(NETWORK|SERVER_UNREACHABLE|SERVER_CONTENT_LENGTH_MISMATCH)/, 'The connection broke.'],
  [/^SERVER/, 'The depot or the site refused.'],
  [/^(USER_SHUTDOWN|CRASH)/, 'The browser ended.'],
  [/^FILE_NO_SPACE/, 'There is no room on the disk.'],
  [/^FILE_ACCESS_DENIED/, 'The browser may not write there.'],
  [/^FILE/, 'The browser cannot write the file.'],
  [/^no bytes$/, 'Nothing came for a minute.'],
];

/** Why a download does not run, and what becomes of it, for people; empty while it runs. */
export function explainHalt({ state, problem, nextTryAtMs }: Halted, nowMs: number): string {
  const why = BROWSERS_WORDS.find(([words]) => words.test(problem))?.[1] ?? problem;
  const sentences = [why, whatNext(state, nextTryAtMs, nowMs)];
  return state === 'running' || state === 'starting' || state === 'done' ? '' : sentences.join(' ').trim();
}

function whatNext(state: Halted['state'], nextTryAtMs: number | undefined, nowMs: number): string {
  if (state === 'paused') return 'Paused.';
  if (state === 'lost') return 'It could not be started again.';
  if (state === 'click') return 'What is on disk is kept: go on by a click.';
  if (state === 'stuck') return 'What is on disk is kept: make room and go on by a click.';
  const leftMs = (nextTryAtMs ?? nowMs) - nowMs;
  const when = leftMs > 0 ? `in ${formatSeconds(Math.max(1, leftMs / 1_000))}` : 'now';
  return `What is on disk is kept; it is tried again ${when}.`;
}
