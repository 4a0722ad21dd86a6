import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { X509Certificate } from '@peculiar/x509';
import { provideMetadataStore } from './provide-metadata-store.ts';

provideMetadataStore();
const {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} = await import('@peculiar/x509');

/** A certificate chain and its private key, as TLS servers take them. */
export interface KeyedCertificate {
  /** PEM: the server's certificate, followed by that of the authority. */
  readonly certPem: string;
  /** PEM, PKCS #8, not encrypted. */
  readonly keyPem: string;
}

/** A certificate authority that lives as long as a test run. */
export interface TestCa {
  /** PEM of the authority's own certificate: what clients are told to trust. */
  readonly certPem: string;
  readonly keyPem: string;
  /** Base64 of the SHA-256 of the authority's public key (SubjectPublicKeyInfo). */
  readonly spkiSha256Base64: string;
  /**
   * Issues a certificate with a new key, for servers and for clients that must have one.
   * @param names DNS names and IP addresses (v4, or v6 without brackets), at least one.
   * @param key The kind of the server's key. Default P-256.
   * @throws {TypeError} when `names` is empty.
   */
  issue(names: readonly string[], key?: ServerKey): Promise<KeyedCertificate>;
}

export interface TestCaOptions {
  /** Subject of the authority. Default `Longhaul test CA`. */
  readonly commonName?: string;
  /** Life of the authority and of what it issues, in days. Default 7. */
  readonly validDays?: number;
  /** The present. Default the clock's. */
  readonly now?: Date;
}

const DAY_MS = 86_400_000;
// Servers and clients of one test may run on machines whose clocks differ a little.
const CLOCK_SLACK_MS = 3_600_000;
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const SERVER_KEY_ALGORITHMS = {
  'ecdsa-p256': KEY_ALGORITHM,
  'rsa-2048': {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  },
} as const;

export type ServerKey = keyof typeof SERVER_KEY_ALGORITHMS;
const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' };

/** Makes a new certificate authority (P-256). Nothing is written to disk. */
export async function createTestCa(options: TestCaOptions = {}): Promise<TestCa> {
  const { commonName = 'Longhaul test CA', validDays = 7, now = new Date() } = options;
  const validity = {
    notBefore: new Date(now.getTime() - CLOCK_SLACK_MS),
    notAfter: new Date(now.getTime() + validDays * DAY_MS),
    signingAlgorithm: SIGNING_ALGORITHM,
  };
  const keys = await generateKeys(KEY_ALGORITHM);
  const authority = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: [{ CN: [commonName] }],
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const certPem = toPem(authority);

  async function issue(names: readonly string[], key: ServerKey = 'ecdsa-p256'): Promise<KeyedCertificate> {
    const [first] = names;
    if (first === undefined) throw new TypeError('a certificate needs at least one name');
    const serverKeys = await generateKeys(SERVER_KEY_ALGORITHMS[key]);
    const certificate = await X509CertificateGenerator.create({
      ...validity,
      subject: [{ CN: [first] }],
      issuer: authority.subjectName,
      publicKey: serverKeys.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
        new SubjectAlternativeNameExtension(
          names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value }) as const),
        ),
        await SubjectKeyIdentifierExtension.create(serverKeys.publicKey),
        await AuthorityKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return { certPem: toPem(certificate) + certPem, keyPem: await exportKey(serverKeys.privateKey) };
  }

  return {
    certPem,
    keyPem: await exportKey(keys.privateKey),
    spkiSha256Base64: createHash('sha256').update(Buffer.from(authority.publicKey.rawData)).digest('base64'),
    issue,
  };
}

function generateKeys(algorithm: EcKeyGenParams | RsaHashedKeyGenParams): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function toPem(certificate: X509Certificate): string {
  return `${certificate.toString('pem').trim()}\n`;
}

async function exportKey(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}
