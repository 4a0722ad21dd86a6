import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a depot keeps over restarts: small text files that only its own user can read. */
export interface StateFolder {
  /** The file's text; `undefined` when there is none. */
  readonly read: (name: string) => string | undefined;
  /** Replaces the file in one step and gives the text back. */
  readonly write: (name: string, text: string) => string;
}

export function openStateFolder(path: string): StateFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return {
    read: (name) => {
      try {
        return readFileSync(join(path, name), 'utf8');
      } catch (failure) {
        if (failure instanceof Error && 'code' in failure && failure.code === 'ENOENT') return undefined;
        throw failure;
      }
    },
    write: (name, text) => {
      const temporary = join(path, `${name}.new`);
      writeFileSync(temporary, text, { mode: 0o600, flush: true });
      renameSync(temporary, join(path, name));
      return text;
    },
  };
}
