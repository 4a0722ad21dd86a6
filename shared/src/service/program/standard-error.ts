/**
 * Beyond its first lines, what is said in so long a time is written together: writing one line costs more
 * than making it.
 */
const GATHER_MS = 50;
/** So many lines are written at once; more come only from services that are busy. */
const LINES_AT_ONCE = 4;
/** What is gathered is written when there is so much. */
const MOST_GATHERED_CHARS = 65_536;
/** What may wait for a reader that does not read, in characters: Node keeps what a full pipe does not take. */
const MOST_UNREAD_CHARS = 1_048_576;

/**
 * Standard error as the place of a log. A terminal that was closed, or a pipe that nobody reads any more,
 * takes no more lines; the service is not to end by that, nor to wait for it. Nor is it to keep them: while
 * too much waits for a reader further lines are dropped, and how many is a line of its own once all before is
 * read. Where many lines come at a time, those after the first are written together, a moment later or when
 * the process ends.
 */
export function openStandardError(): { readonly write: (line: string) => void } {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  let gathered = '';
  let gatheredLines = 0;
  let droppedLines = 0;
  let lines = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    if (process.stderr.writableLength > MOST_UNREAD_CHARS) droppedLines += gatheredLines;
    else if (gathered !== '') process.stderr.write(gathered);
    gathered = '';
    gatheredLines = 0;
  };
  const beginAnew = () => {
    flush();
    timer = undefined;
    lines = 0;
  };
  process.on('exit', flush);
  process.stderr.on('drain', () => {
    if (droppedLines === 0) return;
    const msg = 'nobody read this log, and lines of it were dropped';
    // 40 is a warning of the logger, whose lines these are.
    process.stderr.write(`${JSON.stringify({ level: 40, time: Date.now(), droppedLines, msg })}\n`);
    droppedLines = 0;
  });
  return {
    write: (line) => {
      timer ??= setTimeout(beginAnew, GATHER_MS).unref();
      gathered += line;
      gatheredLines += 1;
      lines += 1;
      if (lines <= LINES_AT_ONCE || gathered.length >= MOST_GATHERED_CHARS) flush();
    },
  };
}
