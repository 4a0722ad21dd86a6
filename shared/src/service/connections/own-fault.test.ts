import { describe, expect, test } from 'vitest';
import { LonghaulError } from '../../errors.ts';
import { couldReachNobody, isOutOfDescriptors, isOwnFault, tellingFailure } from './own-fault.ts';

const failed = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });
const V6 = { syscall: 'connect', address: '2001:db8::1' };

describe('a failure to connect', () => {
  test.each([
    ['no descriptor is left', failed('EMFILE'), true],
    ['the machine has no descriptor left', failed('ENFILE'), true],
    ['no memory is left for it', failed('ENOBUFS'), false],
    ['all ports are used up', failed('EADDRNOTAVAIL', { address: '192.0.2.1' }), false],
    ['no name server could be asked', failed('ECONNREFUSED', { syscall: 'queryA' }), false],
  ])('says nothing of anybody where %s', (_, failure, isOfDescriptors) => {
    const told = new LonghaulError('next-depot-unreachable', {
      cause: new LonghaulError('internal', { cause: failure }),
    });
    for (const one of [failure, told]) {
      expect([couldReachNobody(one), isOwnFault(one)]).toEqual([true, true]);
      expect(isOutOfDescriptors(one)).toBe(isOfDescriptors);
    }
  });

  test.each([
    ['there is no route', failed('ENETUNREACH', V6)],
    ['there is no own address of the family', failed('EADDRNOTAVAIL', V6)],
    ['the kernel knows no IPv6', failed('EAFNOSUPPORT', V6)],
    ['this machine forbids it', failed('EPERM')],
  ])('says nothing of the other end, but something of this one, where %s', (_, failure) => {
    expect([couldReachNobody(failure), isOwnFault(failure)]).toEqual([false, true]);
  });

  test.each([
    ['it refuses', failed('ECONNREFUSED', { syscall: 'connect' })],
    ['it is silent', failed('ETIMEDOUT')],
    ['a router says that it is gone', failed('EHOSTUNREACH')],
    ['there is no such name', failed('ENOTFOUND', { syscall: 'queryA' })],
    ['its name servers are silent', failed('ETIMEOUT', { syscall: 'queryA' })],
    ['nothing is known', new LonghaulError('next-depot-timeout')],
  ])('is the other end’s where %s', (_, failure) => {
    expect(isOwnFault(failure)).toBe(false);
  });
});

test('a host is judged by what came of its addresses, unless one could not be tried', () => {
  const [refused, silent, noFamily] = [failed('ECONNREFUSED'), failed('ETIMEDOUT'), failed('ENETUNREACH')];
  const noDescriptor = failed('EMFILE');
  expect(tellingFailure([])).toBeUndefined();
  expect(tellingFailure([refused, silent])).toBe(refused);
  expect(tellingFailure([noFamily, refused])).toBe(refused);
  expect(tellingFailure([noFamily])).toBe(noFamily);
  expect(tellingFailure([refused, noDescriptor])).toBe(noDescriptor);
});
