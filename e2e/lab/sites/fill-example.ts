import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'docs', 'examples');

/** The text of a file of docs/examples. */
export function exampleText(example: string): string {
  return readFileSync(join(EXAMPLES, example), 'utf8');
}

/** Puts a site's own values into a file of docs/examples, and the file into a folder; gives its path. */
export function fillExample(
  folder: string,
  example: string,
  values: readonly (readonly [string, string])[],
): string {
  let text = exampleText(example);
  for (const [from, to] of values) {
    if (!text.includes(from)) throw new Error(`${example} does not say ${from}`);
    text = text.replaceAll(from, to);
  }
  const file = join(folder, basename(example));
  writeFileSync(file, text);
  if (example.endsWith('.sh')) chmodSync(file, 0o755);
  return file;
}
