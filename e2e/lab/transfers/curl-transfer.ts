import { join } from 'node:path';
import { checkBytes } from './check-bytes.ts';
import {
  curlDownload,
  curlProgram,
  DEADLINE_GRACE_SECONDS,
  isCutByCurl,
  parseCurlMetrics,
} from './curl-command.ts';
import { parseCurlTrace } from './curl-trace.ts';
import { LONGEST_TRANSFER_SECONDS, readOutput, runClient, withTransferFolder } from './run-client.ts';
import type { TransferOutcome, TransferRequest } from './transfer.ts';

/** One connection of one curl; all times start with its first connection, as curl itself counts. */
export function curlTransfer(request: TransferRequest): Promise<TransferOutcome> {
  return withTransferFolder(request.network, async (folder) => {
    const { network, site, expected, cutSeconds } = request;
    const output = join(folder, 'file.bin');
    const run = await runClient({
      network,
      site,
      folder,
      command: [...curlProgram(), '--verbose', '--trace-time', ...curlDownload(request, output)],
      endAfterSeconds: cutSeconds === null ? LONGEST_TRANSFER_SECONDS : cutSeconds + DEADLINE_GRACE_SECONDS,
      signal: 'SIGKILL',
    });
    const file = readOutput(output);
    const metrics = parseCurlMetrics(run.stdout)[0];
    // Killed by the driver, for curl itself may miss its time; an end by anybody else is a failure.
    const wasKilled = cutSeconds !== null && run.endedAfterSeconds !== null && run.code === null;
    const isCut = metrics ? isCutByCurl(metrics, cutSeconds) : wasKilled;
    const failure = isCut || metrics?.exitcode === 0 ? undefined : curlFailure(metrics?.errormsg, run.stderr);
    const check =
      failure === undefined ? checkBytes(file, expected, isCut) : { isRight: false, error: failure };
    return {
      seconds: metrics?.time_total ?? run.seconds,
      receivedBytes: file.length,
      ...parseCurlTrace(run.stderr),
      isCut,
      finalUrl: metrics?.url_effective ?? null,
      ...check,
    };
  });
}

function curlFailure(said: string | null | undefined, stderr: string): string {
  return said ?? /^curl: .*$/m.exec(stderr)?.[0] ?? 'curl did not end';
}
