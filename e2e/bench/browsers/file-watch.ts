import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** How often folders are looked at. */
const LOOK_MS = 10;
/** Names that browsers give what is not whole. */
const PARTIAL = /\.(?:part|crdownload)$/;

/** What comes into folders that hold nothing else, by the clock of `Date.now()`. */
export interface FileWatch {
  /** When the origin had begun to send. */
  readonly sentAtMs: number | undefined;
  readonly firstByteAtMs: number | undefined;
  readonly wholeAtMs: number | undefined;
  /** When last anything grew. */
  readonly changedAtMs: number;
  /** The most that lies under one name. */
  readonly mostBytes: number;
  readonly stop: () => void;
}

interface WatchedFile {
  readonly sizeBytes: number;
  readonly isAskedAbout: boolean;
  readonly isSent: () => boolean;
}

/**
 * Looks for a file of this size from now on. Where nobody says whether it is to be kept (`isAskedAbout`), it
 * is whole under the browser's name for what is not.
 */
export function watchFolders(
  folders: readonly string[],
  { sizeBytes, isAskedAbout, isSent }: WatchedFile,
): FileWatch {
  const seen = {
    sentAtMs: undefined as number | undefined,
    firstByteAtMs: undefined as number | undefined,
    wholeAtMs: undefined as number | undefined,
    changedAtMs: Date.now(),
    mostBytes: 0,
  };
  const look = () => {
    const nowMs = Date.now();
    if (isSent()) seen.sentAtMs ??= nowMs;
    const files = listFiles(folders);
    const mostBytes = Math.max(0, ...files.map(({ bytes }) => bytes));
    if (mostBytes !== seen.mostBytes) seen.changedAtMs = nowMs;
    seen.mostBytes = mostBytes;
    if (mostBytes > 0) seen.firstByteAtMs ??= nowMs;
    if (files.some(({ name, bytes }) => bytes === sizeBytes && (isAskedAbout || !PARTIAL.test(name))))
      seen.wholeAtMs ??= nowMs;
  };
  const timer = setInterval(look, LOOK_MS);
  return Object.assign(seen, { stop: () => clearInterval(timer) });
}

interface FoundFile {
  readonly folder: string;
  readonly name: string;
  readonly bytes: number;
}

/** The files in folders; what goes while they are looked at is left out. */
export function listFiles(folders: readonly string[]): readonly FoundFile[] {
  return folders.flatMap((folder) =>
    readdirSync(folder).flatMap((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      return found ? [{ folder, name, bytes: found.size }] : [];
    }),
  );
}

/** Whether one of the files has these bytes. */
export function holdsFile(folders: readonly string[], bytes: Buffer): boolean {
  return listFiles(folders).some(
    (file) => file.bytes === bytes.length && readFileSync(join(file.folder, file.name)).equals(bytes),
  );
}

export function emptyFolders(folders: readonly string[]): void {
  for (const { folder, name } of listFiles(folders)) rmSync(join(folder, name), { force: true });
}
