import type { ChildProcess, StdioOptions } from 'node:child_process';
import { join } from 'node:path';

/** Starts a program at the client. */
export type ClientSpawn = (command: readonly string[], stdio: StdioOptions) => ChildProcess;

/** Whoever has not answered a question by then is not going to. */
export const ANSWER_MS = 5_000;

/** One question of the client, and what came of it. Times are Unix milliseconds. */
export interface Question {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly answer?: { readonly status: number; readonly location: string; readonly text: string };
  readonly failure?: string;
}

interface Asking {
  /** `{n}` in it is the number of the question. */
  readonly url: string;
  readonly everyMs: number;
  /** The authority behind an https URL. */
  readonly caFile?: string;
}

/** Has the client ask all the time; `onEnd` is told of each question when it has come to an end. */
export function startAsker(
  atClient: ClientSpawn,
  { url, everyMs, caFile }: Asking,
  onEnd: (question: Question) => void,
): { readonly stop: () => void } {
  const program = join(import.meta.dirname, 'ask-main.ts');
  const authority = caFile === undefined ? [] : ['--ca', caFile];
  const command = [process.execPath, program, '--url', url, '--every', String(everyMs), ...authority];
  const child = atClient(command, ['ignore', 'ignore', 'inherit', 'ipc']);
  child.on('message', (question) => onEnd(question as Question));
  return { stop: () => void child.kill() };
}
