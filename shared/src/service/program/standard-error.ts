/**
 * Standard error as the place of a log. A terminal that was closed, or a pipe that nobody reads any more, takes no more
 * lines; the service is not to end by that, nor to wait for it.
 */
export function openStandardError(): { readonly write: (line: string) => void } {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return { write: (line) => void process.stderr.write(line) };
}
