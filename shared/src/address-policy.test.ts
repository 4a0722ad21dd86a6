import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  clientAddress,
  clientPrefix,
  DEFAULT_PORTS_ALLOWED,
  isInNetworks,
  plainAddress,
  publicFamily,
  refuseAddress,
  refuseOverlayAddress,
} from './address-policy.ts';

const strict = { ports: DEFAULT_PORTS_ALLOWED, allow: [] };

describe('a connection is refused', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '2001:db8::1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::1',
    '100:0:0:1::1',
    '4000::1',
    'origin.example',
    '',
  ])('to %j, which is not a public address', (address) => {
    expect(refuseAddress(address, 443, strict)).toBe('target-not-public');
  });

  test.each([
    ['AWS and most others', '169.254.169.254'],
    ['AWS over IPv6', 'fd00:ec2::254'],
    ['Google over IPv6', 'fd20:ce::254'],
    ['Oracle over IPv6', 'fd00:c1::a9fe:a9fe'],
    ['Oracle, formerly', '192.0.0.192'],
    ['Alibaba', '100.100.100.200'],
    ['Tencent', '169.254.0.23'],
    ['Scaleway', '169.254.42.42'],
    ['Scaleway over IPv6', 'fd00:42::42'],
    ['Akamai over IPv6', 'fd00:a9fe:a9fe::1'],
    ['Azure', '168.63.129.16'],
    ['Azure, mapped into IPv6', '::ffff:168.63.129.16'],
    ['Azure, through NAT64', '64:ff9b::a83f:8110'],
    ['Azure, by 6to4', '2002:a83f:8110::1'],
  ])('to where the cloud of %s tells its machines who they are', (_, address) => {
    expect(refuseAddress(address, 80, strict)).toBe('target-not-public');
    expect(refuseOverlayAddress(address, 80, strict)).toBe('depot-address-not-allowed');
  });

  test('to a public address on another port', () => {
    expect(refuseAddress('8.8.8.8', 22, strict)).toBe('port-not-allowed');
    expect(refuseAddress('8.8.8.8', 8443, { ...strict, ports: [80, 443, 8443] })).toBeUndefined();
  });
});

describe('a connection is permitted', () => {
  test.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('to the public address %s', (address) => {
    expect(refuseAddress(address, 443, strict)).toBeUndefined();
  });

  test('to an excepted network on its own ports only', () => {
    const policy = { ...strict, allow: [{ network: '127.0.0.0/8', ports: [9000] }] };
    expect(refuseAddress('127.0.0.1', 9000, policy)).toBeUndefined();
    expect(refuseAddress('::ffff:127.0.0.1', 9000, policy)).toBeUndefined();
    expect(refuseAddress('127.0.0.1', 443, policy)).toBe('target-not-public');
    expect(refuseAddress('10.0.0.1', 9000, policy)).toBe('target-not-public');
    expect(refuseAddress('8.8.8.8', 9000, policy)).toBe('port-not-allowed');
  });
});

describe('a depot', () => {
  test.each([80, 443, 1024, 8470, 65535])('may be at a public address on port %d', (port) => {
    expect(refuseOverlayAddress('8.8.8.8', port, strict)).toBeUndefined();
    expect(refuseOverlayAddress('2606:4700::1111', port, strict)).toBeUndefined();
  });

  test.each([22, 25, 110, 1023])('may not be on port %d, where other services are', (port) => {
    expect(refuseOverlayAddress('8.8.8.8', port, strict)).toBe('depot-address-not-allowed');
    expect(refuseOverlayAddress('8.8.8.8', port, { ...strict, ports: [port] })).toBeUndefined();
  });

  test.each(['127.0.0.1', '10.77.0.1', '169.254.169.254', '::1', '::ffff:10.77.0.1', 'd1.example', ''])(
    'may not be at %j, which is not a public address',
    (address) => {
      expect(refuseOverlayAddress(address, 8470, strict)).toBe('depot-address-not-allowed');
      // What is excepted for origins is not meant for depots.
      const policy = { ...strict, allow: [{ network: '0.0.0.0/0', ports: [8470] }] };
      expect(refuseOverlayAddress(address, 8470, policy)).toBe('depot-address-not-allowed');
    },
  );

  test('may be on any port of a network that is named for the overlay, where origins still may not', () => {
    const policy = { ...strict, overlayNetworks: ['10.77.0.0/16', '::1/128'] };
    for (const address of ['10.77.3.4', '::ffff:10.77.3.4', '::1']) {
      expect(refuseOverlayAddress(address, 25, policy)).toBeUndefined();
      expect(refuseAddress(address, 80, policy)).toBe('target-not-public');
    }
    expect(refuseOverlayAddress('10.78.0.1', 8470, policy)).toBe('depot-address-not-allowed');
  });
});

test('an address is reached by its family on the internet, or by none', () => {
  expect(publicFamily('8.8.8.8')).toBe('IPv4');
  expect(publicFamily('::ffff:8.8.8.8')).toBe('IPv4');
  expect(publicFamily('2606:4700::1111')).toBe('IPv6');
  for (const address of [
    '127.0.0.1',
    '10.77.0.1',
    '100.64.0.1',
    '::1',
    'fd00::1',
    'fe80::1%eth0',
    'd1.example',
    '',
  ])
    expect(publicFamily(address)).toBeUndefined();
});

describe('a client', () => {
  test('counts as its /24 or /48', () => {
    expect(clientPrefix('198.51.100.77')).toBe('198.51.100.0/24');
    expect(clientPrefix('::ffff:198.51.100.77')).toBe('198.51.100.0/24');
    expect(clientPrefix('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1::/48');
    expect(clientPrefix('')).toBe('');
  });

  test('is known by its address, or the /64 of its line', () => {
    expect(clientAddress('198.51.100.77')).toBe('198.51.100.77/32');
    expect(clientAddress('::ffff:198.51.100.77')).toBe('198.51.100.77/32');
    expect(clientAddress('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(clientAddress('2001:db8:1:2:7:8:9:a')).toBe('2001:db8:1:2::/64');
  });

  test('is found in a network of its own family only', () => {
    expect(isInNetworks('::ffff:10.0.0.1', ['10.0.0.0/8'])).toBe(true);
    expect(isInNetworks('10.0.0.1', ['::/0'])).toBe(false);
    expect(isInNetworks('', ['0.0.0.0/0'])).toBe(false);
  });
});

describe('an address', () => {
  test('has one spelling, whichever way it was written', () => {
    for (const spelling of ['198.51.100.7', '::ffff:198.51.100.7', '::FFFF:198.51.100.7', '::ffff:c633:6407'])
      expect(plainAddress(spelling)).toBe('198.51.100.7');
    for (const spelling of ['2001:db8::1', '2001:DB8:0:0::1', '2001:0db8::0001%eth0'])
      expect(plainAddress(spelling)).toBe('2001:db8::1');
    for (const other of ['origin.test', '', '198.51.100.256']) expect(plainAddress(other)).toBe(other);
  });

  test('of IPv4 is spelled as its four numbers', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect([plainAddress(address), plainAddress(`::ffff:${address}`)]).toEqual([address, address]);
      }),
    );
  });
});
