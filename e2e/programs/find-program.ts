import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Finds a program on the PATH, then in `moreFolders`. */
export function findProgram(name: string, moreFolders: readonly string[] = []): string | undefined {
  return candidatesOnPath(name, moreFolders).find(isExecutable);
}

/** Where a program of this name would stand, best first; nothing says that one is there. */
export function candidatesOnPath(name: string, moreFolders: readonly string[] = []): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return [...folders, ...moreFolders].map((folder) => join(folder, name + suffix));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
