import { clientPrefix } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { networkOf } from './listener-calls.ts';

/** struct sockaddr_in6 of an address in groups. */
function sockaddr6(groups: readonly number[]): DataView {
  const bytes = new DataView(new ArrayBuffer(28));
  bytes.setUint16(0, 10, true);
  for (const [index, group] of groups.entries()) bytes.setUint16(8 + 2 * index, group, false);
  return bytes;
}

test.each([
  [0x2001, 0xdb8, 1, 2, 3, 4, 5, 6],
  [0x2001, 0xdb8, 0, 0, 0, 0, 0, 6],
  [0x2001, 0, 0, 1, 0, 0, 0, 6],
  [0, 0x20, 3, 0, 0, 0, 0, 1],
  [0, 0, 3, 9, 9, 9, 9, 9],
  [0, 0, 0, 0, 0, 0, 0, 1],
  [0, 0, 0, 0, 0, 0xffff, 0x7f00, 0x0107],
])('a client network is named as everywhere, of %i:%i:%i:%i:%i:%i:%i:%i', (...groups) => {
  const text = groups.map((group) => group.toString(16)).join(':');
  expect(networkOf(sockaddr6(groups))).toBe(clientPrefix(text));
});

test('a client network is named as everywhere, of IPv4', () => {
  const bytes = new DataView(new ArrayBuffer(28));
  bytes.setUint16(0, 2, true);
  for (const [index, byte] of [192, 0, 2, 77].entries()) bytes.setUint8(4 + index, byte);
  expect(networkOf(bytes)).toBe(clientPrefix('192.0.2.77'));
});
