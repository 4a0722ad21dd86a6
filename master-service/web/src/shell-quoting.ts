/** One argument for a program, written so that the shell changes nothing of it. */

export type Shell = 'sh' | 'powershell' | 'cmd';

/**
 * The argument in the shell's quotes. For PowerShell it must have no `"`, for cmd no line break: Windows
 * PowerShell 5 loses the one on the way to a program, and cmd ends its command at the other.
 */
export function quoteFor(shell: Shell, argument: string): string {
  return QUOTES[shell](argument);
}

const QUOTES: Record<Shell, (argument: string) => string> = {
  // POSIX.1 2.2.2: nothing is special between single quotes, so only they must leave them.
  sh: (argument) => `'${argument.replaceAll("'", "'\\''")}'`,
  // about_Quoting_Rules: between single quotes only a quote counts, doubled. Typographic quotes are quotes, too.
  powershell: (argument) => `'${argument.replace(/['\u2018-\u201b]/g, '$&$&')}'`,
  // `%NAME%` is replaced even between quotes, and at the prompt doubling does not help. A caret behind the name's end
  // makes it a name that no variable has; the caret itself then goes, because it stands outside the quotes.
  cmd: (argument) => argument.split('%').map(quoteForWindows).join('^%'),
};

/** A part without `%` as cmd leaves it alone, and as the C runtime of the program reads it. */
function quoteForWindows(part: string): string {
  // Backslashes count twice before a quote. cmd knows no `\"`, so such a quote stands outside of quotes, with a caret.
  const literal = part.replace(/(\\*)"/g, '$1$1"\\^""').replace(/\\+$/, '$&$&');
  return `"${literal}"`;
}
