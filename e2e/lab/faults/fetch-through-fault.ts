import { join } from 'node:path';
import type { AutoVariant, ChainVariant, Fault, FaultPosition, Scenario } from '../experiment.ts';
import type { LabOverlay } from '../hosts/lab-overlay.ts';
import type { Network } from '../network/network.ts';
import { chainOf, requestOf } from '../stage/fetch-variant.ts';
import type { Stage } from '../stage/stage.ts';
import { checkBytes } from '../transfers/check-bytes.ts';
import { type CurlAttempt, curlAttempt } from '../transfers/curl-attempt.ts';
import { parseCurlTrace } from '../transfers/curl-trace.ts';
import { clientLogFile, readOutput, withTransferFolder } from '../transfers/run-client.ts';
import type { TransferOutcome, TransferRequest } from '../transfers/transfer.ts';
import { type BreakableHost, breakDepot, mendHost } from './break-depot.ts';
import { depotAt } from './depot-at.ts';
import { PauseMeter } from './pause-meter.ts';
import { repeatedCurl } from './repeated-curl.ts';
import { watchGrowth } from './watch-growth.ts';

export interface FaultOutcome extends TransferOutcome {
  /** Longest time without a new byte after the fault; undefined when the file never became whole. */
  readonly pauseMs: number | undefined;
  /** How often the client was started. */
  readonly attempts: number;
  /** Starts the depot that was broken again, in the same place with the same identity. */
  readonly mend: () => Promise<void>;
}

/**
 * Fetches a scenario's file by curl, and breaks a depot of its chain when the client has its share of the bytes. The
 * client is one plain curl; when its own, the first depot breaks, it is started again until it has the file.
 */
export function fetchThroughFault(
  stage: Stage,
  scenario: Scenario,
  variant: ChainVariant | AutoVariant,
  fault: Fault,
  cutSeconds: number | null,
): Promise<FaultOutcome> {
  const request = requestOf(stage, scenario, variant, cutSeconds);
  const overlay = stage.overlay(variant.laneSetup);
  return withTransferFolder(stage.network, async (folder) => {
    const output = join(folder, 'file.bin');
    const pauses = new PauseMeter();
    const strikeAtBytes = (scenario.sizeBytes * fault.atPercent) / 100;
    let host: BreakableHost | undefined;
    let seenBytes = 0;
    const strike = async () => {
      host = hostAt(stage.network, overlay, fault.position, chainSoFar(folder));
      await breakDepot(fault.kind, host);
      pauses.begin(performance.now());
      if (seenBytes >= scenario.sizeBytes)
        throw new Error('the whole file had come before the depot was broken');
    };
    /** Settles with what went wrong with the fault; who waits for it hears of it when the transfer has ended. */
    let struck: Promise<Error | undefined> | undefined;
    const endWatch = watchGrowth(output, (bytes, nowMs) => {
      seenBytes = bytes;
      pauses.saw(bytes, nowMs);
      if (bytes >= strikeAtBytes) struck ??= strike().then(() => undefined, asError);
    });
    const startedMs = performance.now();
    const attempts = await download(request, fault, { folder, output }).finally(endWatch);
    const seconds = (performance.now() - startedMs) / 1000;
    const never = Promise.resolve(new Error(`the client never had ${fault.atPercent} % of the file`));
    const outcome = outcomeOf(request, attempts, readOutput(output), seconds, await (struck ?? never));
    return {
      ...outcome,
      // A pause that did not end has no length.
      pauseMs: outcome.isRight && !outcome.isCut ? pauses.longestMs : undefined,
      attempts: attempts.length,
      mend: async () => {
        if (!host) return;
        await mendHost(host);
        await overlay.restartDepot(host.site);
      },
    };
  });
}

async function download(
  request: TransferRequest,
  { position }: Fault,
  place: { readonly folder: string; readonly output: string },
): Promise<readonly [CurlAttempt, ...CurlAttempt[]]> {
  return position === 'first' ? repeatedCurl(request, place) : [await curlAttempt(request, place)];
}

/** `seconds` are of all attempts; `faultError` says that the fault did not happen as it should. */
function outcomeOf(
  { expected }: TransferRequest,
  attempts: readonly [CurlAttempt, ...CurlAttempt[]],
  file: Buffer,
  seconds: number,
  faultError: Error | undefined,
): TransferOutcome {
  const [first] = attempts;
  const { isCut, failure } = attempts.at(-1) ?? first;
  const problem = failure ?? faultError?.message;
  const check =
    problem === undefined ? checkBytes(file, expected, isCut) : { isRight: false, error: problem };
  return {
    seconds: attempts.length === 1 ? (first.metrics?.time_total ?? seconds) : seconds,
    receivedBytes: file.length,
    ...parseCurlTrace(first.run.stderr),
    isCut,
    finalUrl: first.metrics?.url_effective ?? null,
    ...check,
  };
}

/** The chain that the master last led the client to, from the client on. */
function chainSoFar(folder: string): readonly string[] {
  const said = readOutput(clientLogFile(folder)).toString('latin1');
  const url = [...said.matchAll(/ < Location: (\S+)/gi)].at(-1)?.[1];
  return chainOf(url ?? null) ?? [];
}

function hostAt(
  network: Network,
  overlay: LabOverlay,
  position: FaultPosition,
  chain: readonly string[],
): BreakableHost {
  const site = depotAt(position, chain);
  if (site === undefined)
    throw new Error(
      `the master led the client through ${chain.join(', ') || 'no depot'}: there is no ${position} depot that could be broken`,
    );
  return {
    network,
    site,
    pid: overlay.depotPid(site),
    kill: () => overlay.killDepot(site),
  };
}

function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure));
}
