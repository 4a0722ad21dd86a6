import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import {
  decodeLine,
  type EmulatorAnswer,
  type EmulatorGreeting,
  type EmulatorLine,
  encodeLine,
} from './control-protocol.ts';

/** How the emulator's process ended. */
export interface EmulatorEnd {
  /** false when nobody asked for it: then every link is dead. */
  readonly isExpected: boolean;
  /** What is known of the reason. */
  readonly reason: string;
}

/** After so long a stop is no longer asked for but done, in milliseconds: an answer takes less than one. */
const STOP_PATIENCE_MS = 1000;

/** The driver's end of the control pipe: answers come in the order of the questions. */
export class EmulatorConnection {
  readonly ended: Promise<EmulatorEnd>;
  readonly #child: ChildProcess;
  readonly #waiting: PromiseWithResolvers<EmulatorLine>[] = [];
  #isStopping = false;
  #errors = '';
  #end: EmulatorEnd | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<EmulatorEnd>();
    this.ended = promise;
    child.once('error', (failure) => resolve(this.#finish(failure.message)));
    child.once('close', (code, signal) => {
      resolve(this.#finish(this.#errors.trim() || (signal ?? `exit code ${code}`)));
    });
    // A write after the process has ended: `close` tells it all.
    child.stdin?.on('error', () => undefined);
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        this.#waiting.shift()?.resolve(decodeLine(line));
      });
    }
  }

  async ask<Answer extends EmulatorGreeting | EmulatorAnswer>(question: EmulatorLine): Promise<Answer> {
    if (this.#end !== undefined) throw endError(this.#end);
    const answer = Promise.withResolvers<EmulatorLine>();
    this.#waiting.push(answer);
    this.#child.stdin?.write(encodeLine(question));
    return (await answer.promise) as Answer;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#child.stdin?.end();
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_PATIENCE_MS);
    await this.ended;
    clearTimeout(killer);
  }

  #finish(reason: string): EmulatorEnd {
    const end = { isExpected: this.#isStopping, reason };
    this.#end = end;
    for (const { reject } of this.#waiting.splice(0)) reject(endError(end));
    return end;
  }
}

function endError(end: EmulatorEnd): Error {
  return new Error(`the link emulator has ended: ${end.isExpected ? 'it was stopped' : end.reason}`);
}
