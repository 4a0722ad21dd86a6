import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';

const root = join(import.meta.dirname, '..', '..');

const PROGRAMS = {
  master: join(root, 'master-service', 'src', 'main.ts'),
  depot: join(root, 'depot-node', 'src', 'main.ts'),
} as const;

/** A service that has not come up by then is not going to. */
const START_TIMEOUT_MS = 30_000;
/** A service that has not ended by then is killed. */
const STOP_TIMEOUT_MS = 1500;

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
  child.stderr?.pipe(createWriteStream(join(dir, `${name}.log`)));

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

async function readyUrl(child: ChildProcess): Promise<string> {
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(START_TIMEOUT_MS)]);
  child.once('exit', () => stopped.abort(new Error('it ended')));
  const [message] = (await once(child, 'message', { signal })) as [{ ready: { url: string } }];
  return message.ready.url;
}
