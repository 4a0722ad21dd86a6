import type { ProcessTable } from './process-table.ts';

/** npm, or a program of its kind, that runs this one in the foreground and waits for its end. */
export interface NpmRun {
  /** Whether it is still there, and the shell between, if there is one; so it is while nobody can say. */
  readonly isThere: () => boolean;
}

interface Self {
  readonly pid: number;
  /** The present parent: another one once the first has gone. */
  readonly parent: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A list that the shell does not wait for; `&&`, `2>&1` and `&>file` are something else. */
const BACKGROUND = /(?<![&<>])&(?![&>])/;

/**
 * Finds npm above this process where it does nothing but run this program: npm, perhaps its own `sh -c <script>`, this
 * process, all of one session. Finds nothing where the script puts a program into the background, where another program
 * stands between, and in a session of its own: who starts a service like that means it to stay.
 *
 * npm hands a terminate to its shell. Some shells (dash) end by it without a word to their child; others have made
 * way for the program, and none tells it that npm was killed. So the program has to look.
 */
export function findNpmRun(self: Self, table: ProcessTable): NpmRun | undefined {
  const script = self.env.npm_lifecycle_script;
  if (script === undefined || BACKGROUND.test(script)) return undefined;
  const above = self.parent();
  const session = table.sessionOf(self.pid);
  const isNpm = (pid: number | 'unknown' | undefined): pid is number =>
    typeof pid === 'number' && table.sessionOf(pid) === session && isRunner(table.commandOf(pid), self.env);
  if (isNpm(above)) return { isThere: () => self.parent() === above };

  const npm = table.parentOf(above);
  if (!isShellOf(script, table.commandOf(above)) || !isNpm(npm)) return undefined;
  return {
    isThere: () => {
      const over = table.parentOf(above);
      return self.parent() === above && (over === npm || over === 'unknown');
    },
  };
}

function isRunner(command: readonly string[] | undefined, env: Self['env']): boolean {
  if (command === undefined) return false;
  // npm names itself in its title; others are run by Node as what `npm_execpath` says.
  const [title = '', ...args] = command;
  if (/^(npm|npx|yarn|pnpm)( |$)/.test(title)) return true;
  return env.npm_execpath !== undefined && args.includes(env.npm_execpath);
}

function isShellOf(script: string, command: readonly string[] | undefined): boolean {
  return command?.[1] === '-c' && (command[2] ?? '').startsWith(script);
}
