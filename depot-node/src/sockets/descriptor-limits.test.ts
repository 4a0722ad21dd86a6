import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DESCRIPTORS_AT_REST,
  descriptorsPer,
  fitDescriptors,
  fitLimits,
  parseDescriptorLimit,
} from './descriptor-limits.ts';

test('what is configured counts where there are descriptors enough', () => {
  const wanted = { transfers: 2000, connections: 10_000 };
  expect(fitDescriptors(wanted, 65_536)).toEqual(wanted);
  expect(fitDescriptors(wanted, Number.POSITIVE_INFINITY)).toEqual(wanted);
});

const threadTls = fc.record({ ofClients: fc.boolean(), ofOrigins: fc.boolean() });

test('however few descriptors there are, some are left when transfers and clients have all that they may', () => {
  fc.assert(
    fc.property(fc.integer({ min: 128, max: 100_000 }), threadTls, (descriptors, tls) => {
      const { transfers, connections } = fitDescriptors(
        { transfers: 50_000, connections: 50_000 },
        descriptors,
        tls,
      );
      const per = descriptorsPer(tls);
      const used = transfers * per.transfer + (connections - transfers) * per.idle + DESCRIPTORS_AT_REST;
      expect(used).toBeLessThan(descriptors);
    }),
  );
});

test('with few descriptors one client network, and one origin, has no larger a part than with many', () => {
  const wanted = {
    transfers: 2000,
    perClient: 100,
    perNetwork: 500,
    perOrigin: 1000,
    connections: 10_000,
    connectionsPerNetwork: 2000,
    waitingPerNetwork: 500,
  };
  expect(fitLimits(wanted, 65_536)).toEqual(wanted);
  const few = fitLimits(wanted, 4096);
  expect(few.transfers).toBeLessThan(500);
  expect(few.perNetwork).toBe(Math.floor(few.transfers / 4));
  expect(few.perOrigin).toBe(Math.floor(few.transfers / 2));
  expect(few.connectionsPerNetwork).toBe(Math.floor(few.connections / 5));
  expect(few.waitingPerNetwork).toBe(Math.floor(few.connections / 20));
  expect(fitLimits(wanted, 1)).toMatchObject({ perClient: 1, connectionsPerNetwork: 1 });
});

test('the hard limit is what a process can have', () => {
  expect(
    parseDescriptorLimit('Max open files            1024                 4096                 files\n'),
  ).toBe(4096);
  expect(parseDescriptorLimit('Max open files            1024       unlimited       files\n')).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(parseDescriptorLimit('nothing of it')).toBeUndefined();
});
