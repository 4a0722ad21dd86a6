import { readFile } from 'node:fs/promises';

/** A file's text; `undefined` where there is no such file. Throws on every other I/O error. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
