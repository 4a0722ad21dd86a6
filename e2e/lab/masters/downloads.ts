import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { max } from '../results/statistics.ts';
import type { ClientSpawn } from '../sites/asker.ts';
import type { Files } from './masters-line.ts';

/** Between two looks at what has come. */
const LOOK_MS = 50;

/** One file, and what came of it. Times are Unix milliseconds. */
export interface DownloadedFile {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The longest time without a new byte, where it is whole and the origin's. */
  readonly pauseMs?: number;
  readonly failure?: string;
}

/** A client that downloads one file after the other over one chain. */
export interface Downloader {
  readonly chain: readonly string[];
  readonly files: readonly DownloadedFile[];
  /** Resolves when every file that was begun until this time has come to its end. Rejects after `withinMs`. */
  readonly untilEnded: (untilMs: number, withinMs: number) => Promise<void>;
}

interface Downloading {
  readonly chain: readonly string[];
  /** Base URLs of the masters, in the order in which they are asked. */
  readonly masters: readonly string[];
  /** What stands behind a master's URL; `{n}` is the number of the file. */
  readonly path: string;
  readonly sizeBytes: number;
}

export function startDownloader(
  atClient: ClientSpawn,
  { chain, masters, path, sizeBytes }: Downloading,
): Downloader {
  const program = join(import.meta.dirname, 'download-main.ts');
  const options = ['--masters', masters.join(','), '--path', path, '--size', String(sizeBytes)];
  const child = atClient([process.execPath, program, ...options], ['ignore', 'ignore', 'inherit', 'ipc']);
  const files: DownloadedFile[] = [];
  child.on('message', (file) => files.push(file as DownloadedFile));
  return {
    chain,
    files,
    untilEnded: async (untilMs, withinMs) => {
      while (!files.some(({ endedAtMs }) => endedAtMs >= untilMs)) {
        if (Date.now() > untilMs + withinMs)
          throw new Error(`a download over ${chain.join(', ')} does not end`);
        await delay(LOOK_MS);
      }
    },
  };
}

/** What came of some files. */
export function countFiles(files: readonly DownloadedFile[]): Files {
  const pauses = files.flatMap(({ pauseMs }) => (pauseMs === undefined ? [] : [pauseMs]));
  const failures = [...new Set(files.flatMap(({ failure }) => failure ?? []))];
  return {
    files: files.length,
    whole: pauses.length,
    pauseMs: pauses.length === 0 ? 0 : max(pauses),
    failures,
  };
}
