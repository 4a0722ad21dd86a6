/** Beyond its first lines, what is said in so long a time is written together: writing one line costs more than making it. */
const GATHER_MS = 50;
/** So many lines are written at once; more come only from services that are busy. */
const LINES_AT_ONCE = 4;
/** What is gathered is written when there is so much. */
const MOST_GATHERED_CHARS = 65_536;

/**
 * Standard error as the place of a log. A terminal that was closed, or a pipe that nobody reads any more, takes no more
 * lines; the service is not to end by that, nor to wait for it. Where many lines come at a time, those after the first
 * are written together, a moment later or when the process ends.
 */
export function openStandardError(): { readonly write: (line: string) => void } {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  let gathered = '';
  let lines = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    if (gathered !== '') process.stderr.write(gathered);
    gathered = '';
  };
  const beginAnew = () => {
    flush();
    timer = undefined;
    lines = 0;
  };
  process.on('exit', flush);
  return {
    write: (line) => {
      timer ??= setTimeout(beginAnew, GATHER_MS).unref();
      gathered += line;
      lines += 1;
      if (lines <= LINES_AT_ONCE || gathered.length >= MOST_GATHERED_CHARS) flush();
    },
  };
}
