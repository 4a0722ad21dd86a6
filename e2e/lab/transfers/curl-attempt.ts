import {
  type CurlMetrics,
  curlDownload,
  curlProgram,
  DEADLINE_GRACE_SECONDS,
  isCutByCurl,
  parseCurlMetrics,
} from './curl-command.ts';
import { type ClientRun, runClient } from './run-client.ts';
import type { TransferRequest } from './transfer.ts';

/** One process of curl, from its start to its end. */
export interface CurlAttempt {
  readonly run: ClientRun;
  /** Missing when it was killed. */
  readonly metrics: CurlMetrics | undefined;
  readonly isCut: boolean;
  /** What curl said when it failed, and it was not for the cut. */
  readonly failure?: string;
}

/** Runs curl once, into `output`; what it says stands in `folder`, in the file that {@link runClient} writes. */
export async function curlAttempt(
  request: TransferRequest,
  { folder, output, options = [] }: { folder: string; output: string; options?: readonly string[] },
): Promise<CurlAttempt> {
  const { network, site, cutSeconds } = request;
  const traced = [...curlProgram(), '--verbose', '--trace-time'];
  const run = await runClient({
    network,
    site,
    folder,
    command: [...traced, ...options, ...curlDownload(request, output)],
    endAfterSeconds: cutSeconds + DEADLINE_GRACE_SECONDS,
    signal: 'SIGKILL',
  });
  const metrics = parseCurlMetrics(run.stdout)[0];
  // Killed by the driver, for curl itself may miss its time; an end by anybody else is a failure.
  const wasKilled = run.endedAfterSeconds !== null && run.code === null;
  const isCut = metrics ? isCutByCurl(metrics, cutSeconds) : wasKilled;
  if (isCut || metrics?.exitcode === 0) return { run, metrics, isCut };
  return { run, metrics, isCut, failure: failureOf(metrics?.errormsg, run.stderr) };
}

function failureOf(said: string | null | undefined, stderr: string): string {
  return said ?? /^curl: .*$/m.exec(stderr)?.[0] ?? 'curl did not end';
}
