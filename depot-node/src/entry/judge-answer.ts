import type { IncomingMessage } from 'node:http';
import { LonghaulError } from '@longhaul/shared';
import type { Job } from '../jobs/job-table.ts';
import { BodyDigest, statedDigest } from './body-digest.ts';
import type { Opening } from './open-download.ts';
import { abandon } from './origin-fetch.ts';
import { readPart } from './representation.ts';

/** What an origin may answer to a client that goes on with a download. */
const RESUME_ANSWERS = new Set([200, 206, 304, 412, 416]);

/** A login is never carried, and an address that worked once is never answered as if there were nothing. */
export function refuseUnusable(
  request: IncomingMessage,
  { fetched: { answer }, block }: Opening,
  job: Job,
): void {
  const status = answer.statusCode ?? 0;
  const refuseWith = (failure: LonghaulError) => {
    abandon(answer);
    throw failure;
  };
  if (status === 401 || status === 407) refuseWith(new LonghaulError('origin-needs-login'));
  if (job.hasWorked && !RESUME_ANSWERS.has(status))
    refuseWith(new LonghaulError('origin-unavailable', { detail: `it answered ${status}` }));
  if (status === 206 && !block && !isPartOf(request, answer))
    refuseWith(new LonghaulError('origin-bad-answer'));
  if (status === 200 || status === 206) job.hasWorked = true;
}

/** Whether a 206 is something that the client's `Range` asked for. Several ranges come in a form that only it reads. */
function isPartOf({ headers: { range } }: IncomingMessage, answer: IncomingMessage): boolean {
  if (range === undefined) return false;
  if (answer.headers['content-type']?.startsWith('multipart/byteranges')) return range.includes(',');
  const part = readPart(answer);
  const from = /^bytes=([0-9]+)-[0-9]*$/.exec(range)?.[1];
  return part !== undefined && (from === undefined || part.startByte === Number(from));
}

/** What is known of the whole body's digest, and whether its end must wait for it. */
export function digestOf(
  digestsAll: boolean,
  request: IncomingMessage,
  { fetched: { answer }, head: { statusCode }, block }: Opening,
): { readonly digest: BodyDigest | undefined; readonly mustPass: boolean; readonly holdsBack: boolean } {
  if (request.method === 'HEAD' || statusCode !== 200)
    return { digest: undefined, mustPass: false, holdsBack: false };
  const stated = statedDigest(answer, block !== undefined);
  const holdsBack = stated !== undefined;
  return { digest: new BodyDigest(stated), mustPass: digestsAll || holdsBack, holdsBack };
}
