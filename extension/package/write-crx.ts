import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';

export interface Crx {
  readonly bytes: Buffer;
  /** By what Chromium knows the add-on; made by the key. */
  readonly id: string;
}

const MAGIC = 'Cr24';
const FORMAT_VERSION = 3;
/** Put before what is signed, with the zero that ends it. */
const SIGNED_PREFIX = 'CRX3 SignedData\0';
/** Fields of the header's messages (Chromium, components/crx_file/crx3.proto). */
const FIELDS = { crxId: 1, rsaProof: 2, publicKey: 1, signature: 2, signedHeader: 10_000 } as const;

/**
 * A store archive as Chromium installs it from elsewhere than the store: signed by an RSA key in PEM. The
 * signature has no chance in it (PKCS #1 v1.5), so the same archive and key give the same bytes.
 */
export function writeCrx(zip: Buffer, keyPem: string): Crx {
  const key = createPrivateKey(keyPem);
  if (key.asymmetricKeyType !== 'rsa') throw new Error('Chromium takes add-ons signed by an RSA key only.');
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const idBytes = createHash('sha256').update(publicKey).digest().subarray(0, 16);
  const signedHeader = field(FIELDS.crxId, idBytes);
  const signed = Buffer.concat([
    Buffer.from(SIGNED_PREFIX, 'latin1'),
    uint32(signedHeader.length),
    signedHeader,
    zip,
  ]);
  const proof = Buffer.concat([
    field(FIELDS.publicKey, publicKey),
    field(FIELDS.signature, sign('sha256', signed, key)),
  ]);
  const header = Buffer.concat([field(FIELDS.rsaProof, proof), field(FIELDS.signedHeader, signedHeader)]);
  const head = [Buffer.from(MAGIC, 'latin1'), uint32(FORMAT_VERSION), uint32(header.length)];
  return { bytes: Buffer.concat([...head, header, zip]), id: idText(idBytes) };
}

/** Hexadecimal with the letters a to p. */
function idText(bytes: Buffer): string {
  const digits = bytes.toString('hex');
  return digits.replace(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)));
}

/** A field of bytes, as protocol buffers write it. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
