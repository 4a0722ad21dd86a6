import { join } from 'node:path';
import { checkBytes } from './check-bytes.ts';
import {
  type CurlMetrics,
  curlDownload,
  curlProgram,
  DEADLINE_GRACE_SECONDS,
  isCutByCurl,
  parseCurlMetrics,
} from './curl-command.ts';
import { readOutput, runClient, withTransferFolder } from './run-client.ts';
import type { Transfer, TransferOutcome, TransferRequest } from './transfer.ts';

interface Part {
  readonly output: string;
  readonly start: number;
  /** First byte that is no longer part of it. */
  readonly end: number;
}

/**
 * The file in so many equal ranges at once, each with a connection of its own, by one curl that starts them together.
 * The time ends with the last range; a first byte of the file is not told, because ranges come in any order.
 */
export function rangesTransfer(connections: number): Transfer {
  return (request) =>
    withTransferFolder(request.network, async (folder) => {
      const { network, site, expected, cutSeconds } = request;
      const parts = splitFile(expected.length, connections, folder);
      const downloads = parts.flatMap((part, index) => [
        ...(index === 0 ? [] : ['--next']),
        '--range',
        `${part.start}-${part.end - 1}`,
        ...curlDownload(request, part.output),
      ]);
      const parallel = ['--parallel', '--parallel-immediate', '--parallel-max', String(connections)];
      const run = await runClient({
        network,
        site,
        folder,
        command: [...curlProgram(), ...parallel, ...downloads],
        endAfterSeconds: cutSeconds + DEADLINE_GRACE_SECONDS,
        signal: 'SIGKILL',
      });
      const wasKilled = run.endedAfterSeconds !== null && run.code === null;
      return outcomeOf(request, parts, parseCurlMetrics(run.stdout), wasKilled ? run.seconds : null);
    });
}

function splitFile(sizeBytes: number, count: number, folder: string): Part[] {
  const startOf = (index: number) => Math.floor((sizeBytes * index) / count);
  return Array.from({ length: count }, (_, index) => ({
    output: join(folder, `part-${index}.bin`),
    start: startOf(index),
    end: startOf(index + 1),
  })).filter(({ start, end }) => end > start);
}

/** `killedSeconds`: how long curl ran when it had to be killed, otherwise null. */
function outcomeOf(
  { expected, cutSeconds }: TransferRequest,
  parts: readonly Part[],
  metrics: readonly CurlMetrics[],
  killedSeconds: number | null,
): TransferOutcome {
  const isCut = metrics.some((one) => isCutByCurl(one, cutSeconds)) || killedSeconds !== null;
  let error: string | undefined;
  let receivedBytes = 0;
  for (const { output, start, end } of parts) {
    const file = readOutput(output);
    receivedBytes += file.length;
    const ended = metrics.find((one) => one.filename_effective === output);
    const isPartCut = isCut && (ended === undefined || isCutByCurl(ended, cutSeconds));
    const failure = isPartCut || ended?.exitcode === 0 ? undefined : (ended?.errormsg ?? 'curl did not end');
    const problem = failure ?? checkBytes(file, expected.subarray(start, end), isPartCut).error;
    if (problem !== undefined) error ??= `bytes ${start}-${end - 1}: ${problem}`;
  }
  return {
    seconds: killedSeconds ?? Math.max(0, ...metrics.map((one) => one.time_total)),
    receivedBytes,
    ttfbMs: null,
    setUpMs: null,
    isCut,
    isRight: error === undefined,
    finalUrl: metrics[0]?.url_effective ?? null,
    ...(error === undefined ? {} : { error }),
  };
}
