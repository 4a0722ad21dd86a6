import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LonghaulError } from '../../errors.ts';
import { removeCutSaves } from './state-folder.ts';
import { fileReason } from './system-failure.ts';

const FILE = 'lock';
const FILE_MODE = 0o600;
// SQLITE_BUSY: another process has the lock.
const BUSY = 5;

/** Held until the process ends: one that is collected gives its lock back. */
const held: DatabaseSync[] = [];

/**
 * Keeps a state folder for this process alone, until it ends, however that happens. Two services on one
 * folder would write over each other's keys and facts. What earlier ones could not write to the end is
 * removed. Throws `state-in-use` where another one has it, `state-unusable` where nothing can be locked
 * there.
 *
 * Node gives no file locks, and what stands in a file says little: a pid is another process's after a crash,
 * and each container has a process 1. SQLite, which is part of Node, takes the kernel's lock of a file, on
 * all systems: it belongs to the file, whichever namespace or mount leads to it, and ends with the process.
 * The database is empty and stays so, so that a full disk does not matter.
 */
export function lockStateFolder(folder: string): void {
  const path = join(folder, FILE);
  try {
    const database = new DatabaseSync(path, { timeout: 0 });
    // A journal on disk would have to be written.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    held.push(database);
    chmodSync(path, FILE_MODE);
    removeCutSaves(folder);
  } catch (cause) {
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === BUSY)
      throw new LonghaulError('state-in-use', { detail: folder, cause });
    throw new LonghaulError('state-unusable', { detail: `${path}: ${fileReason(cause)}`, cause });
  }
}
