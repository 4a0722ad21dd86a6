import type { Duplex } from 'node:stream';
import { LonghaulError } from '@longhaul/shared';
import { authorityOf } from '@longhaul/shared/service';
import { type Dial, NoAddress } from '../sockets/dial.ts';
import { secure } from '../sockets/secure.ts';
import type { Trust } from '../sockets/trust.ts';

const CODES = {
  refused: 'master-unreachable',
  broken: 'master-unreachable',
  timeout: 'master-unreachable',
} as const;

/**
 * Opens a connection to a master, by TLS where its URL says so. Rejects with `master-unreachable`, whose
 * detail says why.
 */
export async function reachMaster(
  masterUrl: string,
  { dial, trust }: { readonly dial: Dial; readonly trust: Trust },
  signal: AbortSignal,
): Promise<Duplex> {
  const place = authorityOf(masterUrl);
  const { socket } = await dial({ purpose: 'master', ...place }, signal).catch((failure: unknown) => {
    throw masterUnreachable(masterUrl, failure);
  });
  if (!masterUrl.startsWith('https:')) return socket;
  return secure(socket, place.host, trust, CODES, signal).catch((failure: unknown) => {
    throw masterUnreachable(masterUrl, failure);
  });
}

/** What prevented an exchange with a master, in words that tell causes apart; what has another code stays as it is. */
export function masterUnreachable(masterUrl: string, failure: unknown): LonghaulError {
  if (failure instanceof LonghaulError && failure.code !== 'master-unreachable') return failure;
  const { host, port } = authorityOf(masterUrl);
  const cause = failure instanceof LonghaulError ? failure.cause : failure;
  const reason = failure instanceof NoAddress ? whyNoAddress(cause) : whyUnreachable(cause, port);
  return new LonghaulError('master-unreachable', { detail: `${host}: ${reason}`, cause: failure });
}

function whyNoAddress(cause: unknown): string {
  if (cause instanceof DOMException) return 'DNS has not said in time where this name is';
  const code = codeOf(cause);
  return code === '' ? 'there is no address for this name' : `there is no address for this name, ${code}`;
}

/** Node and the OpenSSL of relay threads say the same of certificates, in words; Node has a code as well. */
function whyUnreachable(cause: unknown, port: number): string {
  const code = codeOf(cause);
  const text = cause instanceof Error ? cause.message : '';
  const named = code === '' ? text : code;
  if (code === 'ECONNREFUSED') return `nobody listens at port ${port}, ECONNREFUSED`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || /^(hostname|ip address) mismatch/i.test(text))
    return `its certificate is for another name, ${named}`;
  if (/^certificate (has expired|is not yet valid)/i.test(text))
    return `its certificate is not valid now, ${named}`;
  if (/^(self.signed certificate|unable to (get|verify) )/i.test(text))
    return `its certificate is not trusted, ${named}: an authority that is not one of the usual ones is named in trustedCaFiles`;
  if (cause instanceof DOMException || code === 'ABORT_ERR' || code === 'ETIMEDOUT')
    return 'no answer in time';
  return named === '' ? 'the connection broke off' : named;
}

function codeOf(cause: unknown): string {
  if (cause instanceof DOMException || !(cause instanceof Error) || !('code' in cause)) return '';
  return String(cause.code);
}
