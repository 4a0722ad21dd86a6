import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';

/** A certificate of a year should have been renewed by then: time enough to ask somebody for another one. */
const ENDING_MS = 14 * 86_400_000;
/**
 * Of one that lives shorter, the last part of its life: programs renew them when a third is left, so that
 * this has failed several times.
 */
const ENDING_SHARE = 0.1;

/** Certificate chain and key of a listener, PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

/**
 * A certificate, of this name or address where one is given, and the key that belongs to it. Throws an error
 * that says in a few words why they are none.
 */
export function checkTls(cert: string, key: string, host?: string): TlsMaterial {
  const certificate = attempt('certFile is no certificate in PEM', () => new X509Certificate(cert));
  const keyObject: KeyObject = attempt('keyFile is no private key in PEM, or needs a passphrase', () =>
    createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(keyObject))
    throw new Error('the key in keyFile is not that of the first certificate in certFile');
  if (host !== undefined && !isFor(certificate, host))
    throw new Error(`the certificate in certFile is not for ${host}`);
  createSecureContext({ cert, key });
  return { cert, key };
}

/** Whether clients that dial this host take the certificate for its own. */
function isFor(certificate: X509Certificate, host: string): boolean {
  const matched = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return matched !== undefined;
}

/** The certificate of what may be material of TLS; `undefined` where there is none in it. */
export function certificateIn(material: unknown): string | undefined {
  if (typeof material !== 'object' || material === null || !('cert' in material)) return undefined;
  return typeof material.cert === 'string' ? material.cert : undefined;
}

/** Certificates of an authority, PEM. Throws an error that says why it is none. */
export function checkAuthority(pem: string): string {
  attempt('is no certificate in PEM', () => new X509Certificate(pem));
  return pem;
}

/** Why clients would refuse a certificate now, in a few words; `undefined` while it is valid. */
export function whyNotValid(cert: string, nowMs: number): string | undefined {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  if (validToDate.getTime() < nowMs) return `the certificate has expired at ${validToDate.toISOString()}`;
  if (validFromDate.getTime() > nowMs)
    return `the certificate is valid only from ${validFromDate.toISOString()} on`;
  return undefined;
}

/** The time in which a certificate is good, in Unix milliseconds. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

export function validityOf(cert: string): Validity {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  return { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
}

/** Whether a certificate that is good now should have been renewed: little time is left. */
export function isEnding({ fromMs, toMs }: Validity, nowMs: number): boolean {
  return toMs - nowMs < Math.min(ENDING_MS, (toMs - fromMs) * ENDING_SHARE);
}

function attempt<T>(instead: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(instead, { cause });
  }
}
