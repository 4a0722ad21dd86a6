import { text } from 'node:stream/consumers';
import { originHref, type PlanAnswer, parseGetTarget, planAnswerSchema } from '@longhaul/shared';
import type { Network } from '../network/network.ts';
import type { TransferRequest } from '../transfers/transfer.ts';

/** A master that does not answer by then is not waited for. */
const ANSWER_SECONDS = 5;

/**
 * The plan that a client was just given at a master's URL: within a minute the master gives the same one
 * again. A URL that names its way and not the file's size is asked with it, because a prediction is of a
 * size. Undefined where a plan cannot be had without a redirect.
 */
export async function planBehind(
  network: Network,
  { site, url, caFile, expected }: Pick<TransferRequest, 'site' | 'url' | 'caFile' | 'expected'>,
): Promise<PlanAnswer | undefined> {
  const { origin, pathname, search } = new URL(url);
  const asked = parseGetTarget(pathname + search);
  if (!asked.ok || asked.value.options.signalling !== undefined) return undefined;
  const { options } = asked.value;
  const body = JSON.stringify({
    url: originHref(asked.value.url),
    ...(options.sizeBytes === undefined ? {} : { sizeBytes: options.sizeBytes }),
    ...(options.via === undefined ? {} : { via: options.via, sizeBytes: expected.length }),
    ...(options.lanes === undefined ? {} : { lanes: options.lanes }),
  });
  const command = ['curl', '--silent', '--noproxy', '*', '--max-time', String(ANSWER_SECONDS)];
  if (caFile !== undefined) command.push('--cacert', caFile);
  command.push('--header', 'Content-Type: application/json', '--data', body, `${origin}/v1/plans`);
  const { stdout } = network.spawn(site, command, ['ignore', 'pipe', 'ignore']);
  return stdout ? parsed(await text(stdout)) : undefined;
}

/**
 * Whether a plan that was asked for behind a download is surely the one that led it, by the job of the
 * address that it came from: where more has become known meanwhile the master gives another one. Without a
 * ticket in that address only going directly tells.
 */
export function hasLed({ decision, jobId }: PlanAnswer, ofAddress: string | undefined): boolean {
  return ofAddress === undefined ? decision === 'direct' : jobId === ofAddress;
}

function parsed(answer: string): PlanAnswer | undefined {
  try {
    return planAnswerSchema.safeParse(JSON.parse(answer)).data;
  } catch {
    return undefined;
  }
}
