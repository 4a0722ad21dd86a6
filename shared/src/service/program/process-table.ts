import { readFileSync } from 'node:fs';

/** What the kernel knows of processes; `undefined` for those that are not there, or that it does not tell of. */
export interface ProcessTable {
  /** `unknown` where it could not be asked, as without a free descriptor: that says nothing of the process. */
  readonly parentOf: (pid: number) => number | 'unknown' | undefined;
  readonly sessionOf: (pid: number) => number | undefined;
  /** The command line, word by word; npm writes its own into the first word. */
  readonly commandOf: (pid: number) => readonly string[] | undefined;
}

/** How the kernel says that a process is not there; the second, where it ends while it is read. */
const NOT_THERE: readonly unknown[] = ['ENOENT', 'ESRCH'];

/** The processes of this machine: Linux only, elsewhere there are none. */
export const linuxProcesses: ProcessTable = {
  parentOf: (pid) => {
    const { text, isKnown } = readProc(pid, 'stat');
    return isKnown ? fieldsOf(text)?.[1] : 'unknown';
  },
  sessionOf: (pid) => fieldsOf(readProc(pid, 'stat').text)?.[3],
  commandOf: (pid) => readProc(pid, 'cmdline').text?.replace(/\0$/, '').split('\0'),
};

/** The fields of /proc/<pid>/stat from the state on, which is no number: proc_pid_stat(5). */
function fieldsOf(stat: string | undefined): readonly number[] | undefined {
  // The program's name, in parentheses, may have spaces.
  return stat
    ?.slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

interface Told {
  /** Left out where there is no such process, or nobody knows. */
  readonly text?: string;
  readonly isKnown: boolean;
}

function readProc(pid: number, file: string): Told {
  try {
    return { text: readFileSync(`/proc/${pid}/${file}`, 'utf8'), isKnown: true };
  } catch (failure) {
    return { isKnown: NOT_THERE.includes((failure as NodeJS.ErrnoException).code) };
  }
}
