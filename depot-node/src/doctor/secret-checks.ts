import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DepotFiles } from '../config-file.ts';
import { SECRET_FILES } from '../identity.ts';
import type { Finding } from './finding.ts';

/** Rights of those who are neither the owner nor in the group: to read a file, and to get through a folder. */
const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;

/**
 * Whether every account of this machine can read the keys and secrets of the depot; who can may pose as it.
 * Nothing where files have no such rights.
 */
export function checkSecrets(
  { config, stateDir }: Pick<DepotFiles, 'config' | 'stateDir'>,
  baseDir: string,
): Finding[] {
  if (process.platform === 'win32') return [];
  const { tls, entryGroup, master } = config;
  const named: readonly (readonly [what: string, path: string | undefined])[] = [
    ['tls.keyFile', tls?.keyFile],
    ['entryGroup.tls.keyFile', entryGroup?.tls?.keyFile],
    ['master.enrolmentSecretFile', master.enrolmentSecretFile],
    ...SECRET_FILES.map((name) => [name, resolve(stateDir, name)] as const),
  ];
  return named.flatMap(([what, path]) => (path === undefined ? [] : checkOne(what, resolve(baseDir, path))));
}

function checkOne(name: string, path: string): Finding[] {
  const what = `readers of ${name}`;
  const isOpen = isReadByAll(path);
  if (isOpen === undefined) return [];
  if (!isOpen) return [{ level: 'ok', what, found: 'not every account of this machine' }];
  const change = `chmod o-rwx ${path}; where others have an account here, replace it, too`;
  return [{ level: 'warn', what, found: 'every account of this machine', change }];
}

/**
 * `undefined` where it is not there, or not for this account to see. A folder that others cannot enter hides
 * what is in it.
 */
function isReadByAll(path: string): boolean | undefined {
  try {
    const real = realpathSync(path);
    if ((statSync(real).mode & OTHERS_READ) === 0) return false;
    for (let folder = dirname(real); ; folder = dirname(folder)) {
      if ((statSync(folder).mode & OTHERS_ENTER) === 0) return false;
      if (folder === dirname(folder)) return true;
    }
  } catch {
    return undefined;
  }
}
