/**
 * A client that downloads one file after the other: `node download-main.ts --masters <url>,... --path <path>
 * --size <bytes>`. It asks the masters in turn until one leads somewhere, compares each file with the
 * origin's, and tells its parent of each. `{n}` in the path is the number of the file.
 */
import { once } from 'node:events';
import { Agent, get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { originBytes } from '../hosts/origin-content.ts';
import type { DownloadedFile } from './downloads.ts';

/** A master that has not answered by then is not asked on. */
const ANSWER_MS = 2_000;
/** A download without a byte for so long has failed: depots wait less for each other. */
const SILENT_MS = 30_000;
/** After a file that did not come. */
const REST_MS = 200;

const { values } = parseArgs({
  options: {
    masters: { type: 'string', default: '' },
    path: { type: 'string', default: '' },
    size: { type: 'string', default: '0' },
  },
});
// A connection that is kept may be one to a master that is gone.
const agent = new Agent({ keepAlive: false });
const wanted = originBytes(Number(values.size));

async function ask(url: string, patienceMs: number): Promise<IncomingMessage> {
  const request = get(url, { agent });
  request.setTimeout(patienceMs, () => request.destroy(new Error('no answer')));
  // Whoever reads the answer hears of it, too.
  request.on('error', () => {});
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

function codeOf({ 'longhaul-error': code }: IncomingHttpHeaders): string {
  return String(code ?? '');
}

/** Where the first master leads that answers. Throws what the last one said where none does. */
async function locate(path: string): Promise<string> {
  let failure: unknown;
  for (const master of values.masters.split(',')) {
    try {
      const { statusCode, headers } = (await ask(master + path, ANSWER_MS)).resume();
      if (statusCode === 307) return headers.location ?? '';
      failure = new Error(`${master} answered ${statusCode} ${codeOf(headers)}`);
    } catch (reason) {
      failure = reason;
    }
  }
  throw failure;
}

/** Fetches one file; gives the longest time without a new byte. Throws where it does not come as it is. */
async function fetchFile(path: string): Promise<number> {
  const answer = await ask(await locate(path), SILENT_MS);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${codeOf(answer.headers)}`);
  let at = 0;
  let lastMs = performance.now();
  let pauseMs = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    pauseMs = Math.max(pauseMs, performance.now() - lastMs);
    lastMs = performance.now();
    if (!part.equals(wanted.subarray(at, at + part.length))) throw new Error(`other bytes after ${at}`);
    at += part.length;
  }
  if (at !== wanted.length) throw new Error(`it ended after ${at} bytes`);
  return Math.round(pauseMs);
}

process.on('disconnect', () => process.exit(0));
for (let number = 1; ; number += 1) {
  const startedAtMs = Date.now();
  const tell = (outcome: Pick<DownloadedFile, 'pauseMs' | 'failure'>) =>
    process.send?.({ startedAtMs, endedAtMs: Date.now(), ...outcome } satisfies DownloadedFile);
  try {
    tell({ pauseMs: await fetchFile(values.path.replace('{n}', String(number))) });
  } catch (failure) {
    tell({ failure: String(failure) });
    await delay(REST_MS);
  }
}
