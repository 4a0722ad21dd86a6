import { quoteFor, type Shell } from './shell-quoting.ts';

/** A download on a command line: by whom, and what to paste. */
export interface CommandLine {
  readonly program: string;
  readonly line: string;
}

/** cmd takes no longer line. */
const MAX_CMD_CHARS = 8191;

/**
 * Lines that download `masterUrl` as `fileName` when they are pasted into `shell`: a refusal ends them with a
 * failure, and called again they go on where they were. Empty where the shell cannot take such a line.
 */
export function commandLines(shell: Shell, masterUrl: string, fileName: string): readonly CommandLine[] {
  const url = quoteFor(shell, masterUrl);
  const name = quoteFor(shell, safeName(shell, fileName));
  // In Windows PowerShell the bare names are other commands.
  const exe = shell === 'powershell' ? '.exe' : '';
  const lines = [
    // Without --globoff curl takes brackets and braces, and `#1` in the name, for patterns.
    { program: 'curl', line: `curl${exe} --fail --location --globoff -C - -o ${name} ${url}` },
    { program: 'wget', line: `wget${exe} -c ${isNameOfUrl(masterUrl, fileName) ? '' : `-O ${name} `}${url}` },
    { program: 'aria2c', line: `aria2c${exe} -c -o ${name} ${url}` },
  ];
  return shell === 'cmd' ? lines.filter(({ line }) => line.length <= MAX_CMD_CHARS) : lines;
}

/** A name that no program takes for an option or for its standard output, and Windows for no device. */
function safeName(shell: Shell, fileName: string): string {
  const isDevice = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i.test(fileName);
  if (shell !== 'sh' && isDevice) return `_${fileName}`;
  return fileName.startsWith('-') ? `./${fileName}` : fileName;
}

/**
 * Whether wget names the file so by itself. Then it is better not told: with -O it makes the file before it
 * is refused one.
 */
function isNameOfUrl(masterUrl: string, fileName: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(fileName) && masterUrl.endsWith(`/${fileName}`);
}
