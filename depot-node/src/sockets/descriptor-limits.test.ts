import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitDescriptors, fitLimits, leastDescriptorsFor, parseDescriptorLimit } from './descriptor-limits.ts';

/** What a depot has by default. */
const WANTED = { transfers: 2000, connections: 10_000, lanes: 500, preparedWays: 64 };

test('what is configured counts where there are descriptors enough', () => {
  expect(fitDescriptors(WANTED, 65_536)).toEqual(WANTED);
  expect(fitDescriptors(WANTED, Number.POSITIVE_INFINITY)).toEqual(WANTED);
  expect(fitDescriptors(WANTED, 65_536, { ofClients: true, ofOrigins: true })).toEqual(WANTED);
});

const threadTls = fc.record({ ofClients: fc.boolean(), ofOrigins: fc.boolean() });

test('however few descriptors there are, some are left when all that may have any has them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 128, max: 100_000 }),
      fc.integer({ min: 1, max: 50_000 }),
      fc.integer({ min: 0, max: 1000 }),
      threadTls,
      (descriptors, lanes, preparedWays, tls) => {
        const wanted = { transfers: 50_000, connections: 50_000, lanes, preparedWays };
        const fitting = fitDescriptors(wanted, descriptors, tls);
        const [ofClient, ofOrigin] = [tls.ofClients ? 3 : 0, tls.ofOrigins ? 3 : 0];
        const used =
          fitting.transfers * (8 + ofClient + ofOrigin) +
          (fitting.connections - fitting.transfers) * (1 + ofClient) +
          fitting.lanes * (2 + ofOrigin) +
          fitting.preparedWays * (1 + ofOrigin);
        expect(used + 64).toBeLessThan(descriptors);
      },
    ),
  );
});

test('a depot with few descriptors has fewer lanes and prepared ways only where these would have a quarter', () => {
  const both = { ofClients: true, ofOrigins: true };
  expect(fitDescriptors(WANTED, 20_000, both)).toMatchObject({ lanes: 500, preparedWays: 64 });
  const few = fitDescriptors(WANTED, 4096, both);
  expect(few.transfers).toBeGreaterThan(150);
  expect(few.lanes).toBeGreaterThan(150);
  expect(few.preparedWays).toBe(Math.floor((few.lanes * 64) / 500));
  expect(fitDescriptors({ ...WANTED, lanes: 12 }, 4096, both)).toMatchObject({ lanes: 12, preparedWays: 64 });
});

test('with what is said to be needed at least all fits, and with one descriptor less it does not', () => {
  const users = fc.record({
    transfers: fc.integer({ min: 2, max: 5000 }),
    connections: fc.integer({ min: 1, max: 20_000 }),
    lanes: fc.integer({ min: 1, max: 5000 }),
    preparedWays: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(users, threadTls, (wanted, tls) => {
      const least = leastDescriptorsFor(wanted, tls);
      expect(fitDescriptors(wanted, least, tls)).toEqual(wanted);
      expect(fitDescriptors(wanted, least - 1, tls)).not.toEqual(wanted);
    }),
  );
});

test('with few descriptors one client network, and one origin, has no larger a part than with many', () => {
  const wanted = {
    ...WANTED,
    perClient: 100,
    perNetwork: 500,
    perOrigin: 1000,
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
