import { generateKeyPairSync, sign } from 'node:crypto';
import type { TlsMaterial, Validity } from './tls-files.ts';

/** DER tags of ITU-T X.690 that a certificate (RFC 5280) needs. */
const TAG = { integer: 2, bits: 3, octets: 4, id: 6, text: 12, time: 24, sequence: 48, set: 49 } as const;
const EXPLICIT = { version: 0xa0, extensions: 0xa3, address: 0x87 } as const;

/** Object ids, encoded: Ed25519 (RFC 8410), common name, subject alternative name. */
const ED25519 = Buffer.from('2b6570', 'hex');
const COMMON_NAME = Buffer.from('550403', 'hex');
const ALTERNATIVE_NAME = Buffer.from('551d11', 'hex');

/** Longer than any test. */
const FOR_LONG: Validity = { fromMs: Date.UTC(2020, 0, 1), toMs: Date.UTC(2099, 11, 31, 23, 59, 59) };

/** A certificate for 127.0.0.1 that trusts itself, with its key, as PEM. */
export function selfSigned({ fromMs, toMs }: Validity = FOR_LONG): TlsMaterial {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const algorithm = der(TAG.sequence, der(TAG.id, ED25519));
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, der(TAG.id, COMMON_NAME), der(TAG.text, Buffer.from('test')))),
  );
  const times = [fromMs, toMs].map((timeMs) => der(TAG.time, Buffer.from(generalizedTime(timeMs))));
  const address = der(TAG.sequence, der(EXPLICIT.address, Buffer.from([127, 0, 0, 1])));
  const extension = der(TAG.sequence, der(TAG.id, ALTERNATIVE_NAME), der(TAG.octets, address));
  const body = der(
    TAG.sequence,
    der(EXPLICIT.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1])),
    algorithm,
    name,
    der(TAG.sequence, ...times),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXPLICIT.extensions, der(TAG.sequence, extension)),
  );
  const signature = der(TAG.bits, Buffer.from([0]), sign(null, body, privateKey));
  const certificate = der(TAG.sequence, body, algorithm, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** For example 20200101000000Z. */
function generalizedTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
