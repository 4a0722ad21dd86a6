import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Word } from './announcer.ts';

/** What is right is said again so often: a routing daemon that has started anew has forgotten it. */
const REPEAT_MS = 5_000;
/** After a failure sooner. */
const RETRY_MS = 1_000;
/** The last word is tried so often: nobody says it again. */
const LAST_TRIES = 3;
/** A program that takes longer hangs, and would keep a withdrawal waiting. */
const RUN_MS = 3_000;

interface RouteProgramInit {
  readonly program: string;
  readonly nowMs: () => number;
  /** Told of what was done for the first time since something else, and of each failure. */
  readonly onDone: (word: Word) => void;
  readonly onFailed: (word: Word, why: string) => void;
}

/** Has a program change routes, one word at a time: the newest counts. */
export class RouteProgram {
  readonly #init: RouteProgramInit;
  #wanted: Word | undefined;
  #done: Word | undefined;
  #againAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(init: RouteProgramInit) {
    this.#init = init;
  }

  /** Wants this to be so; called again and again. Resolves when nothing is left to be done by now. */
  want(word: Word): Promise<void> {
    if (word !== this.#wanted) this.#againAtMs = Number.NEGATIVE_INFINITY;
    this.#wanted = word;
    if (!this.#running && this.#isDue()) this.#running = this.#work(word);
    return this.#running ?? Promise.resolve();
  }

  /**
   * Wants this to be so when nobody looks any more: a failure is tried again. Resolves when it is so, or has
   * failed three times.
   */
  async end(word: Word): Promise<void> {
    await this.want(word);
    for (let tries = 1; tries < LAST_TRIES && this.#done !== word; tries += 1) {
      await delay(RETRY_MS);
      this.#againAtMs = Number.NEGATIVE_INFINITY;
      await this.want(word);
    }
  }

  #isDue(): boolean {
    return this.#init.nowMs() >= this.#againAtMs;
  }

  async #work(first: Word): Promise<void> {
    await this.#run(first);
    while (this.#wanted !== undefined && this.#isDue()) await this.#run(this.#wanted);
    this.#running = undefined;
  }

  async #run(word: Word): Promise<void> {
    const why = await failureOf(this.#init.program, word);
    const { nowMs, onDone, onFailed } = this.#init;
    if (this.#wanted === word) this.#againAtMs = nowMs() + (why === undefined ? REPEAT_MS : RETRY_MS);
    if (why !== undefined) onFailed(word, why);
    else if (this.#done !== word) onDone(word);
    this.#done = why === undefined ? word : undefined;
  }
}

/**
 * Runs the program to its end; what went wrong, if anything. Its output is this program's own: ExaBGP reads
 * it there.
 */
function failureOf(program: string, word: Word): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, [word], {
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: RUN_MS,
      killSignal: 'SIGKILL',
    });
    child.once('error', (failure) => resolve(failure.message));
    child.once('close', (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal ? `it was ended by ${signal}` : `it ended with ${code}`);
    });
  });
}
