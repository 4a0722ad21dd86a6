import { readFileSync } from 'node:fs';

/** What the kernel knows of processes; `undefined` for those that are not there. */
export interface ProcessTable {
  readonly parentOf: (pid: number) => number | undefined;
  readonly sessionOf: (pid: number) => number | undefined;
  /** The command line, word by word; npm writes its own into the first word. */
  readonly commandOf: (pid: number) => readonly string[] | undefined;
}

/** The processes of this machine: Linux only, elsewhere there are none. */
export const linuxProcesses: ProcessTable = {
  parentOf: (pid) => statOf(pid)?.[1],
  sessionOf: (pid) => statOf(pid)?.[3],
  commandOf: (pid) => readProc(pid, 'cmdline')?.replace(/\0$/, '').split('\0'),
};

/** The fields of /proc/<pid>/stat from the state on, which is no number: proc_pid_stat(5). */
function statOf(pid: number): readonly number[] | undefined {
  const text = readProc(pid, 'stat');
  // The program's name, in parentheses, may have spaces.
  return text
    ?.slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
