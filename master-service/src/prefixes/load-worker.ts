/** The thread that reads a file of prefixes, says what is in it, and ends. */
import { readFileSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { fileReason } from '@longhaul/shared/service';
import type { Loaded, LoadOrder, LoadReport } from './load-file.ts';
import { buffersOf } from './prefix-table.ts';
import { readAsTable } from './read-as-table.ts';
import { readCoverage } from './read-coverage.ts';

/** Ten times a table of the whole Internet as text. */
const MAX_FILE_BYTES = 268_435_456;

const READERS = { coverage: readCoverage, asTable: readAsTable } as const;

const { kind, path } = workerData as LoadOrder;
const report = load();
parentPort?.postMessage(report, 'data' in report ? buffersOf(report.data.table) : []);

function load(): LoadReport {
  let file: Buffer;
  try {
    if (statSync(path).size > MAX_FILE_BYTES)
      return { mistakes: `it is larger than ${MAX_FILE_BYTES} bytes` };
    file = readFileSync(path);
  } catch (failure) {
    return { mistakes: `it cannot be read: ${fileReason(failure)}` };
  }
  const read = READERS[kind](file);
  return read.ok
    ? { data: read.value satisfies Loaded[keyof Loaded] }
    : { mistakes: read.error.detail ?? '' };
}
