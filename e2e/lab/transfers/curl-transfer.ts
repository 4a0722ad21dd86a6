import { join } from 'node:path';
import { checkBytes } from './check-bytes.ts';
import { curlAttempt } from './curl-attempt.ts';
import { parseCurlTrace } from './curl-trace.ts';
import { readOutput, withTransferFolder } from './run-client.ts';
import type { TransferOutcome, TransferRequest } from './transfer.ts';

/** One connection of one curl; all times start with its first connection, as curl itself counts. */
export function curlTransfer(request: TransferRequest): Promise<TransferOutcome> {
  return withTransferFolder(request.network, async (folder) => {
    const output = join(folder, 'file.bin');
    const { run, metrics, isCut, failure } = await curlAttempt(request, { folder, output });
    const file = readOutput(output);
    const check =
      failure === undefined ? checkBytes(file, request.expected, isCut) : { isRight: false, error: failure };
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
