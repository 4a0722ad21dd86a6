import { createCipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';

const SUITE = {
  name: 'TLS_AES_128_GCM_SHA256',
  hash: 'sha256',
  cipher: 'aes-128-gcm',
  keyBytes: 16,
} as const;
const HASH_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/**
 * A handshake message of one byte, KeyUpdate, which asks for none in return; then the type of what is inside
 * the record.
 */
const MESSAGE = Buffer.from([24, 0, 0, 1, 0, 22]);

/**
 * Records by which a client of TLS 1.3 takes new keys (RFC 8446, 4.6.3): nothing is inside, and as many as he
 * likes may follow each other. No library sends them so; for tests and attacks.
 */
export class KeyUpdates {
  #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  next(): Buffer {
    const key = expand(this.#secret, 'key', SUITE.keyBytes);
    const cipher = createCipheriv(SUITE.cipher, key, expand(this.#secret, 'iv', NONCE_BYTES));
    const head = Buffer.from([23, 3, 3, 0, MESSAGE.length + TAG_BYTES]);
    cipher.setAAD(head);
    const sealed = Buffer.concat([head, cipher.update(MESSAGE), cipher.final(), cipher.getAuthTag()]);
    this.#secret = expand(this.#secret, 'traffic upd', HASH_BYTES);
    return sealed;
  }
}

/**
 * Secures an open socket as a client that believes whoever answers; rejects where that fails. What is sent
 * over TLS afterwards is these records, written to the socket itself.
 */
export async function beginKeyUpdates(socket: Socket): Promise<KeyUpdates> {
  const secured = connect({ socket, rejectUnauthorized: false, minVersion: 'TLSv1.3', ciphers: SUITE.name });
  const secrets: string[] = [];
  secured.on('keylog', (line: Buffer) => {
    const [label, , secret = ''] = line.toString('latin1').trim().split(' ');
    if (label === 'CLIENT_TRAFFIC_SECRET_0') secrets.push(secret);
  });
  for (const over of ['error', 'end']) secured.on(over, () => socket.destroy());
  const closed = once(secured, 'close').then(() => {
    throw new Error('the handshake broke off');
  });
  await Promise.race([once(secured, 'secureConnect'), closed]);
  closed.catch(() => {});
  // Its last words of the handshake are written behind this event.
  await new Promise((resolve) => setImmediate(resolve));
  secured.resume();
  return new KeyUpdates(Buffer.from(secrets[0] ?? '', 'hex'));
}

/** HKDF-Expand-Label (RFC 8446, 7.1) of no context, for lengths of one hash at most. */
function expand(secret: Buffer, label: string, sizeBytes: number): Buffer {
  const named = Buffer.from(`tls13 ${label}`, 'latin1');
  const info = Buffer.concat([Buffer.from([0, sizeBytes, named.length]), named, Buffer.from([0, 1])]);
  return createHmac(SUITE.hash, secret).update(info).digest().subarray(0, sizeBytes);
}
