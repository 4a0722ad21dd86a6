import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { SERVICES, type Service } from './run-service.ts';
import { killAll, type LivingProcess, processesOf } from './session-processes.ts';

export const root = join(import.meta.dirname, '..', '..');
export const BIN = join(root, 'node_modules', '.bin');

/** How people start a service. */
export const LAUNCHERS = {
  'node main.ts': ({ main }: (typeof SERVICES)[Service]) => [process.execPath, main],
  "the package's bin": ({ name }: (typeof SERVICES)[Service]) => [join(BIN, name)],
  'npm exec': ({ name }: (typeof SERVICES)[Service]) => ['npm', 'exec', name, '--'],
} as const;
export type Launcher = keyof typeof LAUNCHERS;

export interface StartedService {
  /** What was started: the service, or npm. */
  readonly top: ChildProcess;
  readonly topPid: number;
  /** The service itself. */
  readonly pid: number;
  readonly url: string;
  /** What it has said on standard error so far. */
  readonly log: () => string;
  /** Waits until it has said so. */
  readonly said: (text: string | RegExp) => Promise<void>;
  /** Everything of its session that lives. */
  readonly left: () => readonly LivingProcess[];
}

export interface StartOptions {
  /** Of the test that it ends with. */
  readonly onTestFinished: (end: () => void) => void;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Starts a command line in a session of its own, which ends with the test. The service in it says when it is ready. */
export async function startInSession(
  command: readonly string[],
  serviceCommand: RegExp,
  { onTestFinished, env = {}, cwd = root }: StartOptions,
): Promise<StartedService> {
  const [program = '', ...args] = command;
  const top = spawn(program, args, {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...cleanEnvironment(), ...env },
  });
  const topPid = top.pid ?? 0;
  onTestFinished(() => killAll(processesOf(topPid)));
  let log = '';
  let output = '';
  top.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ready = await new Promise<string>((resolve, reject) => {
    top.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const line = /^ready (\{.*\})$/m.exec(output)?.[1];
      if (line !== undefined) resolve(line);
    });
    top.once('exit', () => reject(new Error(`it ended:\n${output}${log}`)));
    top.once('error', reject);
  });
  const found = processesOf(topPid).find((one) => serviceCommand.test(one.command));
  if (!found) throw new Error(`no process of ${String(serviceCommand)} in its session`);
  const isSaid = (text: string | RegExp) => (typeof text === 'string' ? log.includes(text) : text.test(log));
  return {
    top,
    topPid,
    pid: found.pid,
    url: (JSON.parse(ready) as { url: string }).url,
    log: () => log,
    said: async (text) => {
      while (!isSaid(text)) await once(top.stderr, 'data');
    },
    left: () => processesOf(topPid),
  };
}

/** Starts a service in one of the ways in which people do. */
export function startServiceBy(
  launcher: Launcher,
  service: Service,
  configFile: string,
  options: StartOptions,
): Promise<StartedService> {
  const command = [...LAUNCHERS[launcher](SERVICES[service]), '--config', configFile];
  return startInSession(command, new RegExp(`node \\S*(${SERVICES[service].name}|main\\.ts) `), options);
}

/** This process runs under npm as well; what it starts does not. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  // Node 24, as an operator has it on the path.
  return { ...Object.fromEntries(entries), PATH: `${BIN}:${process.env.PATH}` };
}
