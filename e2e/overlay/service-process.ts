import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';

const root = join(import.meta.dirname, '..', '..');

const PROGRAMS = {
  master: join(root, 'master-service', 'src', 'main.ts'),
  depot: join(root, 'depot-node', 'src', 'longhaul-depot.mjs'),
} as const;

/** A service that has not come up by then is not going to: it takes a second, and many times that on a busy machine. */
const START_TIMEOUT_MS = 90_000;
/** A service that has not ended by then is killed. */
const STOP_TIMEOUT_MS = 10_000;

/** Starts a program with a channel for messages and its error output in a pipe, in the folder `cwd`. */
export type Launch = (command: readonly [string, ...string[]], cwd: string) => ChildProcess;

/** One running program that tells by a message when it is ready, and where. */
export interface ServiceProcess {
  /** The service's public base URL. */
  readonly url: string;
  readonly pid: number;
  /** Asks it to end, as Ctrl-C does, and waits for that; rejects when it did not and had to be killed. */
  readonly stop: () => Promise<void>;
  /** Ends it without notice, as a power failure does. */
  readonly kill: () => Promise<void>;
}

/** Writes `<name>.yaml` and starts a master or a depot with it, as {@link startProgram} does. */
export function startService(
  service: keyof typeof PROGRAMS,
  dir: string,
  name: string,
  config: object,
  launch: Launch,
): Promise<ServiceProcess> {
  mkdirSync(dir, { recursive: true });
  const configFile = join(dir, `${name}.yaml`);
  writeFileSync(configFile, stringify(config));
  return startProgram([PROGRAMS[service], '--config', configFile], dir, name, launch);
}

/**
 * Starts a program of this repository and waits until it is ready; what it says goes to `<name>.log`. Rejects with what
 * it said when it does not come up.
 */
export async function startProgram(
  command: readonly [string, ...string[]],
  dir: string,
  name: string,
  launch: Launch,
): Promise<ServiceProcess> {
  const child = launch([process.execPath, ...command], dir);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 10_000) said += text;
  });
  // Whoever removes the folder while the program still runs loses its log, and nothing else.
  const log = createWriteStream(join(dir, `${name}.log`)).on('error', (failure) => {
    said += `\n(no log: ${failure.message})`;
  });
  child.stderr?.pipe(log);

  const url = await readyUrl(child).catch((failure: Error) => {
    child.kill('SIGKILL');
    throw new Error(`${name} did not start (${failure.message}):\n${said}`);
  });
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    if (ended()) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
    if (signal !== 'SIGKILL' && child.signalCode === 'SIGKILL')
      throw new Error(`${name} did not end when asked to`);
  };
  return { url, pid: child.pid ?? 0, stop: () => end('SIGINT'), kill: () => end('SIGKILL') };
}

/** Rejects with what came instead of the message: an end, a failure to start, or nothing for too long. */
async function readyUrl(child: ChildProcess): Promise<string> {
  const gaveUp = new AbortController();
  const giveUp = (reason: string) => gaveUp.abort(new Error(reason));
  const timer = setTimeout(
    () => giveUp(`it was not ready after ${START_TIMEOUT_MS / 1000} s`),
    START_TIMEOUT_MS,
  );
  // Not `exit`: its last words may come after that.
  child.once('close', (code, signal) => giveUp(`it ended, ${signal ? `by ${signal}` : `with code ${code}`}`));
  try {
    const [message] = (await once(child, 'message', { signal: gaveUp.signal })) as [
      { ready: { url: string } },
    ];
    return message.ready.url;
  } catch (failure) {
    // What `once` says of an abort is only that there was one.
    throw gaveUp.signal.aborted ? gaveUp.signal.reason : failure;
  } finally {
    clearTimeout(timer);
  }
}
