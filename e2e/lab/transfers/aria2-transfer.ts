import { join } from 'node:path';
import { requireProgram } from '../programs.ts';
import { parseAria2ControlFile } from './aria2-control-file.ts';
import { type ByteCheck, checkBytes, firstDifference } from './check-bytes.ts';
import { type ClientRun, readOutput, runClient, withTransferFolder } from './run-client.ts';
import type { Transfer, TransferRequest } from './transfer.ts';

const FILE_NAME = 'file.bin';

/**
 * aria2 with so many connections, in pieces of 1 MiB. The time is that of its process, start and end included. When cut
 * it is interrupted as by Ctrl-C, and what it has is counted from its control file, in blocks of 16 KiB.
 */
export function aria2Transfer(connections: number): Transfer {
  return (request) =>
    withTransferFolder(request.network, async (folder) => {
      const { network, site, expected, cutSeconds } = request;
      const run = await runClient({
        network,
        site,
        folder,
        command: [requireProgram('aria2c'), ...aria2Options(request, connections, folder)],
        endAfterSeconds: cutSeconds,
        signal: 'SIGINT',
      });
      const isCut = run.endedAfterSeconds !== null && run.code !== 0;
      const file = readOutput(join(folder, FILE_NAME));
      const has = isCut
        ? checkInterrupted(file, readOutput(join(folder, `${FILE_NAME}.aria2`)), expected)
        : { receivedBytes: file.length, ...checkEnded(run, file, expected) };
      return { seconds: run.seconds, ttfbMs: null, setUpMs: null, isCut, finalUrl: null, ...has };
    });
}

function aria2Options({ url, caFile }: TransferRequest, connections: number, folder: string): string[] {
  const alone = ['--no-conf', '--no-netrc', '--no-proxy=*', '--async-dns=false', '--disable-ipv6'];
  const fast = [`-x${connections}`, `-s${connections}`, '-k1M', '--file-allocation=none'];
  const quiet = ['--summary-interval=0', '--show-console-readout=false', '--console-log-level=error'];
  const authority = caFile === undefined ? [] : [`--ca-certificate=${caFile}`];
  return [
    ...alone,
    ...fast,
    ...quiet,
    ...authority,
    '--enable-color=false',
    `--dir=${folder}`,
    `--out=${FILE_NAME}`,
    url,
  ];
}

function checkEnded(run: ClientRun, file: Buffer, expected: Buffer): ByteCheck {
  if (run.code === 0) return checkBytes(file, expected, false);
  const said = /errorCode=[0-9]+ (?!URI=).*/.exec(run.stdout + run.stderr)?.[0];
  return { isRight: false, error: said ?? `aria2c ended with code ${run.code}` };
}

/** Without a control file nothing had begun. */
function checkInterrupted(
  file: Buffer,
  controlFile: Buffer,
  expected: Buffer,
): ByteCheck & { readonly receivedBytes: number } {
  let receivedBytes = 0;
  for (const { start, end } of controlFile.length === 0 ? [] : parseAria2ControlFile(controlFile)) {
    receivedBytes += end - start;
    const part = file.subarray(start, end);
    if (part.length < end - start || end > expected.length) {
      return {
        receivedBytes,
        isRight: false,
        error: `bytes ${start}-${end - 1} should be there and are not`,
      };
    }
    const wrongAt = firstDifference(part, expected.subarray(start, end));
    if (wrongAt !== undefined) {
      return { receivedBytes, isRight: false, error: `byte ${start + wrongAt} is wrong` };
    }
  }
  return { receivedBytes, isRight: true };
}
