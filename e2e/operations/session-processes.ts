import { readdirSync, readFileSync } from 'node:fs';

/** A living process, as /proc shows it. */
export interface LivingProcess {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly command: string;
}

/** The living processes of a session (`setsid`); Linux only. Those that only wait to be reaped do not live. */
export function processesOf(session: number): LivingProcess[] {
  return livingProcesses().filter((one) => one.session === session);
}

/** The living processes with this text in their command line. */
export function processesWith(text: string): LivingProcess[] {
  return livingProcesses().filter(({ command }) => command.includes(text));
}

/** Ends them, at once. */
export function killAll(processes: readonly LivingProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

function livingProcesses(): LivingProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

function readProcess(pid: number): LivingProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in parentheses, may have spaces.
    const [state = '', parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(parent), session: Number(session), command };
  } catch {
    return undefined;
  }
}
