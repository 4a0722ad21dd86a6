import { randomBytes } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { text } from 'node:stream/consumers';
import { encodeBase64url, HEADERS, isWireErrorCode, LonghaulError, OVERLAY_KEY } from '@longhaul/shared';
import { isAnswerSigned, overlayKeyOf, parseJson, signRequest } from '@longhaul/shared/service';
import type { MasterConfig } from '../config.ts';
import type { MasterKeys } from '../keys/key-files.ts';
import {
  ENROLMENT_PATH,
  type EnrolmentAnswer,
  type EnrolmentRequest,
  enrolmentAnswerSchema,
} from './enrolment-requests.ts';

/** A master answers from memory, and writes one small file. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Where to find who listens at all addresses. '::' is those of both families, of which a machine may have one. */
const WILDCARDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['::', ['::1', '127.0.0.1']],
  ['0.0.0.0', ['127.0.0.1']],
]);

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly proof: string;
  readonly text: string;
}

/**
 * Asks the master that runs on this machine with this configuration and this state folder. Rejects with its
 * code, `master-unreachable` where it does not run, `master-bad-answer`. Certificates are not looked at: the
 * answer proves itself by the overlay's key.
 */
export async function askOwnMaster(
  { listen, publicUrl, tls }: Pick<MasterConfig, 'listen' | 'publicUrl' | 'tls'>,
  { signingKey, enrolmentSecret }: MasterKeys,
  asked: EnrolmentRequest,
): Promise<EnrolmentAnswer> {
  const body = JSON.stringify(asked);
  const stamp = { timeMs: Date.now(), epoch: randomBytes(12).toString('base64url'), sequence: 1 };
  const sign = (content: string) => encodeBase64url(signingKey.sign(content));
  const signed = signRequest({ method: 'POST', path: ENROLMENT_PATH, stamp, body }, sign);
  const name = publicUrl === undefined ? '' : new URL(publicUrl).hostname;
  const options = {
    port: listen.port,
    method: 'POST',
    path: ENROLMENT_PATH,
    headers: {
      ...signed,
      [HEADERS.proofs]: OVERLAY_KEY,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  };
  const askAt = (host: string) =>
    new Promise<Answer>((resolve, reject) => {
      const outgoing = tls
        ? requestHttps({
            ...options,
            host,
            rejectUnauthorized: false,
            ...(name === '' || isIP(name) ? {} : { servername: name }),
          })
        : requestHttp({ ...options, host });
      outgoing.once('error', reject).once('response', (response) => {
        const { [HEADERS.error]: code = '', [HEADERS.signature]: proof = '' } = response.headers;
        text(response)
          .then((read) =>
            resolve({
              status: response.statusCode ?? 0,
              code: String(code),
              proof: String(proof),
              text: read,
            }),
          )
          .catch(reject);
      });
      outgoing.end(body);
    });
  const answer = await askOneOf(WILDCARDS.get(listen.host) ?? [listen.host], askAt);
  if (answer.status !== 200) {
    throw new LonghaulError(isWireErrorCode(answer.code) ? answer.code : 'master-bad-answer', {
      detail: `the master answered ${answer.status}`,
    });
  }
  const overlayKey = overlayKeyOf(enrolmentSecret).publicKey;
  const read = enrolmentAnswerSchema.safeParse(parseJson(answer.text));
  if (
    !read.success ||
    !isAnswerSigned(overlayKey, signed[HEADERS.signature] ?? '', answer.text, answer.proof)
  )
    throw new LonghaulError('master-bad-answer');
  return read.data;
}

/** Asks where anybody can be connected to. What may have been heard is not asked again. */
async function askOneOf(hosts: readonly string[], askAt: (host: string) => Promise<Answer>): Promise<Answer> {
  const reasons: string[] = [];
  for (const [at, host] of hosts.entries()) {
    try {
      return await askAt(host);
    } catch (cause) {
      reasons.push(cause instanceof Error ? cause.message : String(cause));
      const isUnheard = cause instanceof Error && 'syscall' in cause && cause.syscall === 'connect';
      if (isUnheard && at + 1 < hosts.length) continue;
      const detail = `the master must run on this machine: ${reasons.join('; ')}`;
      throw new LonghaulError('master-unreachable', { detail, cause });
    }
  }
  throw new LonghaulError('master-unreachable');
}
