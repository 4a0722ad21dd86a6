import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** One running master or depot, as a process of its own with a configuration file. */
export interface ServiceProcess {
  /** The service's public base URL. */
  readonly url: string;
  /** Asks it to end, as Ctrl-C does, and waits for that; rejects when it did not and had to be killed. */
  readonly stop: () => Promise<void>;
  /** Ends it without notice, as a power failure does. */
  readonly kill: () => Promise<void>;
}

/** Writes `<name>.yaml` and starts the service with it. Rejects with what the service said when it does not come up. */
export async function startService(
  program: keyof typeof PROGRAMS,
  dir: string,
  name: string,
  config: object,
): Promise<ServiceProcess> {
  mkdirSync(dir, { recursive: true });
  const configFile = join(dir, `${name}.yaml`);
  writeFileSync(configFile, stringify(config));
  const child = spawn(process.execPath, [PROGRAMS[program], '--config', configFile], {
    cwd: dirname(configFile),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
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
  return { url, stop: () => end('SIGINT'), kill: () => end('SIGKILL') };
}

async function readyUrl(child: ChildProcess): Promise<string> {
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(START_TIMEOUT_MS)]);
  child.once('exit', () => stopped.abort(new Error('it ended')));
  const [message] = (await once(child, 'message', { signal })) as [{ ready: { url: string } }];
  return message.ready.url;
}
