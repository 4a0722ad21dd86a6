import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LonghaulError } from '../../errors.ts';
import { fileReason } from './system-failure.ts';

/** Only the service's own account may read its state: keys and secrets are among it. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** No two saves have one temporary file. */
const TEMPORARY_BYTES = 6;
const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;
/** What file systems say that write no folder through to the disk. */
const NO_FOLDER_SYNC: ReadonlySet<unknown> = new Set([
  'EINVAL',
  'ENOTSUP',
  'EISDIR',
  'EPERM',
  'EACCES',
  'EBADF',
]);

/**
 * What a service keeps over restarts: small text files. A reader finds the old content or the new one, never
 * a part; what was saved stays so when the power fails. Everything here throws, or rejects with,
 * `state-unusable` where the disk or its rights say no.
 */
export interface StateFolder {
  /** The file's text; `undefined` when there is none. */
  readonly read: (name: string) => string | undefined;
  /** The same as it lies there: a text may be no longer than 512 MiB. */
  readonly readBytes: (name: string) => Buffer | undefined;
  /** The file's text; the first call makes and writes it. For start-up: it waits for the disk. */
  readonly readOrMake: (name: string, make: () => string) => string;
  /** Replaces the file. Of saves that overlap the last one wins. */
  readonly save: (name: string, text: string) => Promise<void>;
  /** Removes the file, if there is one. For commands: it waits for the disk. */
  readonly remove: (name: string) => void;
  /** Gives the file another name, in the place of what has that one; nothing where there is no file. For start-up. */
  readonly rename: (name: string, to: string) => void;
  /** The same as `save` for a long text, part by part: nobody need have all of it at once. */
  readonly saveParts: (name: string, parts: Iterable<string>) => Promise<void>;
}

/**
 * Who wants to know how saving goes, beside whoever saves: some files are saved over and over, and a full
 * disk stays full.
 */
export interface SaveWatch {
  /** A file could not be saved, and could before. */
  readonly onFailing: (failure: LonghaulError) => void;
  /** A file that could not be saved was. */
  readonly onSavedAgain: (path: string) => void;
}

/** Opens the folder, and makes it where there is none. */
export function openStateFolder(path: string, watch?: SaveWatch): StateFolder {
  makeFolder(path);
  const lastSaves = new Map<string, Promise<void>>();
  const failing = new Set<string>();

  const readAs = <Content>(name: string, contentOf: (bytes: Buffer) => Content): Content | undefined => {
    try {
      return contentOf(readFileSync(join(path, name)));
    } catch (failure) {
      if (failure instanceof Error && 'code' in failure && failure.code === 'ENOENT') return undefined;
      throw unusable(join(path, name), failure);
    }
  };
  const read = (name: string) => readAs(name, (bytes) => bytes.toString());
  const saveParts = (name: string, parts: Iterable<string>): Promise<void> => {
    // One write after the other, also after a failed one: the newest content must be the last.
    const last = lastSaves.get(name) ?? Promise.resolve();
    const save = last
      .catch(() => undefined)
      .then(() => write(join(path, name), parts))
      .then(
        () => {
          if (failing.delete(name)) watch?.onSavedAgain(join(path, name));
        },
        (failure: LonghaulError) => {
          if (!failing.has(name)) watch?.onFailing(failure);
          failing.add(name);
          throw failure;
        },
      );
    lastSaves.set(name, save);
    return save;
  };
  return {
    read,
    readBytes: (name) => readAs(name, (bytes) => bytes),
    readOrMake: (name, make) => {
      const present = read(name);
      if (present !== undefined) return present;
      const text = make();
      writeAtOnce(join(path, name), text);
      return text;
    },
    save: (name, text) => saveParts(name, [text]),
    saveParts,
    remove: (name) => {
      try {
        rmSync(join(path, name), { force: true });
      } catch (cause) {
        throw unusable(join(path, name), cause);
      }
    },
    rename: (name, to) => {
      try {
        if (existsSync(join(path, name))) renameSync(join(path, name), join(path, to));
      } catch (cause) {
        throw unusable(join(path, name), cause);
      }
    },
  };
}

/**
 * Makes a folder and those above it. Node's own way of doing so never returns where a folder that is there
 * takes none, and says `ENOENT` of that, as /proc does.
 */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (cause) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw notMade(path, cause);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (cause) {
    throw unusable(path, cause);
  }
}

function notMade(path: string, cause: unknown): LonghaulError {
  // Its parent is there: what is missing is a file system that takes folders.
  const isRefused = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
  return isRefused
    ? new LonghaulError('state-unusable', { detail: `${path}: no folder can be made there (ENOENT)`, cause })
    : unusable(path, cause);
}

function writeAtOnce(path: string, text: string): void {
  const temporary = temporaryFor(path);
  try {
    writeFileSync(temporary, text, { mode: FILE_MODE, flag: 'wx', flush: true });
    renameSync(temporary, path);
    syncFolderAtOnce(dirname(path));
  } catch (failure) {
    rmSync(temporary, { force: true });
    throw unusable(path, failure);
  }
}

async function write(path: string, parts: Iterable<string>): Promise<void> {
  const temporary = temporaryFor(path);
  try {
    const file = await open(temporary, 'wx', FILE_MODE);
    try {
      for (const part of parts) await file.appendFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (failure) {
    // What cannot be removed, either, is no other failure.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unusable(path, failure);
  }
}

/** Writes the names in a folder through to the disk: without this the old file may be back after a power cut. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (failure) {
    passOver(failure);
  }
}

/** The same, while everybody waits for the disk. */
function syncFolderAtOnce(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (failure) {
    passOver(failure);
  }
}

/** Throws what is more than that folders cannot be synced here: then the file is there, and as safe as it can be. */
function passOver(failure: unknown): void {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined;
  if (!NO_FOLDER_SYNC.has(code)) throw failure;
}

function unusable(path: string, cause: unknown): LonghaulError {
  return new LonghaulError('state-unusable', { detail: `${path}: ${fileReason(cause)}`, cause });
}

/**
 * Removes what saves have left that were cut, by a crash or a power cut. For a service that has the folder
 * for itself: what another one is writing looks the same.
 */
export function removeCutSaves(path: string): void {
  for (const name of readdirSync(path)) {
    if (!TEMPORARY.test(name)) continue;
    try {
      rmSync(join(path, name), { force: true });
    } catch {
      // What cannot be removed is in nobody's way.
    }
  }
}

function temporaryFor(path: string): string {
  return `${path}.${randomBytes(TEMPORARY_BYTES).toString('hex')}.tmp`;
}
