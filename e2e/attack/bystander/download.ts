import { createHash } from 'node:crypto';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { HEADERS } from '@longhaul/shared';

/** What became of a download, and how long it took from the first connection to the last byte. */
export interface Download {
  readonly outcome: 'whole' | 'refused' | 'wrong' | 'broke';
  /** The code of a refusal, or what broke. */
  readonly why?: string;
  readonly seconds: number;
}

export interface DownloadOptions {
  readonly localAddress: string | undefined;
  readonly ca: Buffer | undefined;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** More than a master and the depots of stepwise signalling need. */
const MOST_REDIRECTS = 5;
/** A person has given up by then. */
const PATIENCE_MS = 30_000;

/** Downloads a file as a simple client does: follows redirects, over a new connection each. Never rejects. */
export async function download(link: string, options: DownloadOptions): Promise<Download> {
  const startedMs = performance.now();
  const ended = (outcome: Download['outcome'], why?: string): Download => ({
    outcome,
    ...(why === undefined ? {} : { why }),
    seconds: (performance.now() - startedMs) / 1000,
  });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const ledBy: string[] = [];
  try {
    let at = link;
    let answer = await ask(at, options, signal);
    while (answer.headers.location !== undefined) {
      if (ledBy.length === MOST_REDIRECTS) return ended('broke', 'redirected without end');
      answer.destroy();
      ledBy.push(`${new URL(at).hostname} (${errorOf(answer) ?? 'without an error'})`);
      at = answer.headers.location;
      answer = await ask(at, options, signal);
    }
    if (answer.statusCode !== 200) {
      answer.destroy();
      return ended('refused', errorOf(answer) ?? `status ${answer.statusCode}`);
    }
    const hash = createHash('sha256');
    for await (const chunk of answer as AsyncIterable<Buffer>) hash.update(chunk);
    return ended(hash.digest('hex') === options.sha256 ? 'whole' : 'wrong');
  } catch (failure) {
    const code = failure instanceof Error && 'code' in failure ? String(failure.code) : String(failure);
    const why = signal.aborted ? `not there after ${PATIENCE_MS / 1000} s` : code;
    return ended('broke', `${why}, led on by ${ledBy.join(', ') || 'nobody'}`);
  }
}

function errorOf({ headers }: IncomingMessage): string | undefined {
  const code = headers[HEADERS.error];
  return typeof code === 'string' ? code : undefined;
}

function ask(link: string, options: DownloadOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { ca, localAddress } = options;
  return new Promise((resolve, reject) => {
    const get = link.startsWith('https:') ? getHttps : getHttp;
    const asked = get(
      link,
      { agent: false, signal, ...(localAddress ? { localAddress } : {}), ...(ca ? { ca } : {}) },
      resolve,
    );
    asked.once('error', reject);
  });
}
