import { Worker } from 'node:worker_threads';
import { asLonghaulError, LonghaulError, ok, type Result, refuse } from '@longhaul/shared';
import type { AsTableData } from './read-as-table.ts';
import type { CoverageData } from './read-coverage.ts';

/** What is read from a file of each kind. */
export interface Loaded {
  readonly coverage: CoverageData;
  readonly asTable: AsTableData;
}

/** Given to the thread that reads. */
export interface LoadOrder {
  readonly kind: keyof Loaded;
  readonly path: string;
}

/** What the thread says. */
export type LoadReport<Kind extends keyof Loaded = keyof Loaded> =
  | { readonly data: Loaded[Kind] }
  | { readonly mistakes: string };

const WORKER = new URL('./load-worker.ts', import.meta.url);

/** Text of an MMDB's two million networks, and some more: the thread, not the master, ends when a file wants more. */
const HEAP_MIB = 768;
/** A file that is not read by then is given up. */
const LOAD_TIMEOUT_MS = 120_000;

/**
 * Reads a file in a thread of its own, so that no request waits for it; its tables are handed over without a
 * copy. Refuses with `prefixes-invalid`.
 */
export async function loadFile<Kind extends keyof Loaded>(
  kind: Kind,
  path: string,
): Promise<Result<Loaded[Kind]>> {
  const worker = startReader({ kind, path });
  if (!worker.ok) return worker;
  return readBy(worker.value, path);
}

/** A machine that has as many threads as it may refuses a further one at once. */
function startReader(workerData: LoadOrder): Result<Worker> {
  const resourceLimits = { maxOldGenerationSizeMb: HEAP_MIB };
  try {
    return ok(new Worker(WORKER, { name: 'prefixes', execArgv: [], workerData, resourceLimits }));
  } catch (failure) {
    const why = `no thread can be started that would read it: ${reasonOf(failure)}`;
    return refuse('prefixes-invalid', `${workerData.path}: ${why}`);
  }
}

function readBy<Kind extends keyof Loaded>(worker: Worker, path: string): Promise<Result<Loaded[Kind]>> {
  return new Promise((resolve) => {
    const settle = (result: Result<Loaded[Kind]>) => {
      clearTimeout(timer);
      resolve(result);
      void worker.terminate();
    };
    const invalid = (why: string) => settle(refuse('prefixes-invalid', `${path}: ${why}`));
    const timer = setTimeout(() => invalid('reading it takes too long'), LOAD_TIMEOUT_MS);
    worker.on('message', (report: LoadReport<Kind>) => {
      if ('data' in report) settle(ok(report.data));
      else invalid(report.mistakes);
    });
    worker.on('error', (failure) => invalid(reasonOf(failure)));
    worker.on('exit', () => invalid('the thread that read it has ended'));
  });
}

function reasonOf(failure: unknown): string {
  if (failure instanceof Error && 'code' in failure && failure.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return 'it wants more memory than it may have';
  return failure instanceof LonghaulError ? failure.message : asLonghaulError(failure).message;
}
