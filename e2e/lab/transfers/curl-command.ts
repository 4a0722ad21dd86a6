import { requireProgram } from '../programs.ts';
import type { TransferRequest } from './transfer.ts';

/** A client that cannot even connect for so long would only wait for the end of the experiment. */
const CONNECT_TIMEOUT_SECONDS = 30;
/**
 * curl looks at its own deadline only when something happens after a redirect, so a stalled one is ended from
 * outside.
 */
export const DEADLINE_GRACE_SECONDS = 0.5;

/** What curl 7.75 and later say about one finished transfer (`--write-out '%{json}'`); times in seconds. */
export interface CurlMetrics {
  readonly exitcode: number;
  readonly errormsg: string | null;
  readonly filename_effective: string;
  readonly http_code: number;
  readonly size_download: number;
  /** From the first connection to the end, redirects included. */
  readonly time_total: number;
  /** From the first connection to the last answer's first header byte, redirects included. */
  readonly time_starttransfer: number;
  /** When the last redirect had been read. */
  readonly time_redirect: number;
  readonly url_effective: string;
}

/** The options of one download into `file`, without those for the whole process. */
export function curlDownload({ url, cutSeconds, caFile }: TransferRequest, file: string): string[] {
  const options = ['--location', '--fail', '--silent', '--show-error', '--http1.1', '--no-buffer'];
  options.push('--noproxy', '*', '--connect-timeout', String(CONNECT_TIMEOUT_SECONDS));
  options.push('--write-out', '%{json}\n', '--output', file);
  options.push('--max-time', String(cutSeconds));
  if (caFile !== undefined) options.push('--cacert', caFile);
  return [...options, url];
}

/** curl without the user's configuration file; the option has to be the first. */
export function curlProgram(): string[] {
  return [requireProgram('curl'), '--disable'];
}

/** Reads what curl wrote to standard output: one line for each transfer that it ended itself. */
export function parseCurlMetrics(stdout: string): CurlMetrics[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as CurlMetrics);
}

/** Exit code of curl for every deadline of its own, the one for connecting included. */
const EXIT_TIMED_OUT = 28;

/** Whether a transfer was ended by `--max-time` and by nothing else. */
export function isCutByCurl(metrics: CurlMetrics, cutSeconds: number): boolean {
  // curl rounds its deadline to milliseconds.
  return metrics.exitcode === EXIT_TIMED_OUT && metrics.time_total > cutSeconds - 0.01;
}
