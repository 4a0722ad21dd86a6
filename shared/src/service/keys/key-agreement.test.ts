import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { pairMacOf } from './key-agreement.ts';

const PURPOSE = 'test-1';

function pair(): { key: KeyObject; publicKey: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { key: privateKey, publicKey: createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '' };
}

test('two key owners make the same MACs, and a third one others', () => {
  for (let time = 0; time < 20; time += 1) {
    const [one, other, third] = [pair(), pair(), pair()];
    const mac = pairMacOf(one.key, other.publicKey, PURPOSE)?.('text');
    expect(mac).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(pairMacOf(other.key, one.publicKey, PURPOSE)?.('text')).toBe(mac);
    expect(pairMacOf(other.key, one.publicKey, PURPOSE)?.('another')).not.toBe(mac);
    expect(pairMacOf(third.key, one.publicKey, PURPOSE)?.('text')).not.toBe(mac);
    expect(pairMacOf(third.key, other.publicKey, PURPOSE)?.('text')).not.toBe(mac);
    expect(pairMacOf(other.key, one.publicKey, 'test-2')?.('text')).not.toBe(mac);
  }
});

test('what is no key, or one whose secret everybody knows, gives none', () => {
  const own = pair().key;
  const little = (last: number, first: number) => {
    const bytes = Buffer.alloc(32);
    bytes[0] = first;
    bytes[31] = last;
    return bytes.toString('base64url');
  };
  // y = 1 has no place on Curve25519, y = 0 and y = -1 are of small order.
  const minusOne = Buffer.from(`ec${'ff'.repeat(30)}7f`, 'hex').toString('base64url');
  for (const bad of ['', 'AAAA', little(0, 1), little(0, 0), little(0x80, 1), minusOne])
    expect(pairMacOf(own, bad, PURPOSE)).toBeUndefined();
});
