import { type CongestionControl, MIB } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import type { Scenario, Variant } from '../experiment.ts';
import { payloadRateBps } from '../hosts/link-estimates.ts';
import type { Site } from '../network/topology.ts';
import { EXPERIMENTS } from './experiments.ts';
import { boundBps, predictedBps, predictedFirstByteMs, rttOf } from './predictions.ts';

const DIRECT: Variant = { kind: 'direct' };
const CHAIN = { kind: 'chain', depots: ['near', 'far'] } as const;

interface Conditions {
  readonly loss?: number;
  readonly clientBufferBytes?: number;
  readonly depotControl?: CongestionControl;
  readonly tls?: boolean;
}

/** Client, two depots and origin in a row, 10, 50 and 40 ms apart, at 100 Mbit/s. */
function line({
  loss = 0,
  clientBufferBytes = 6 * MIB,
  depotControl,
  tls = false,
}: Conditions = {}): Scenario {
  const link = (first: string, second: string, rttMs: number) => ({
    between: [first, second] as const,
    rttMs,
    rateBps: 100e6,
    queue: { bytes: 625_000 },
    loss,
  });
  const depot: Site = { role: 'depot', ...(depotControl ? { congestionControl: depotControl } : {}) };
  return {
    id: 'line',
    label: 'a line',
    topology: {
      name: 'a line',
      sites: {
        client: { role: 'client', receiveBufferBytes: clientBufferBytes },
        near: depot,
        far: depot,
        origin: { role: 'origin' },
      },
      links: [link('client', 'near', 10), link('near', 'far', 50), link('far', 'origin', 40)],
    },
    client: 'client',
    origin: 'origin',
    depots: ['near', 'far'],
    sizeBytes: 30 * MIB,
    tls,
    variants: { direct: DIRECT, chain: CHAIN },
  };
}

const predicted = (scenario: Scenario, variant: Variant) => predictedBps(scenario, variant) ?? 0;

describe('the bound of a scenario', () => {
  test('is two round trips, then the bytes as fast as the narrowest link takes them', () => {
    const scenario = line();
    expect(rttOf(scenario)).toBe(100);
    const seconds = (scenario.sizeBytes * 8) / boundBps(scenario);
    expect(seconds).toBeCloseTo(0.2 + (scenario.sizeBytes * 8) / payloadRateBps(100e6), 9);
  });

  test('is above whatever the models say of one connection', () => {
    for (const scenario of EXPERIMENTS.flatMap(({ scenarios }) => scenarios))
      expect(predicted(scenario, DIRECT)).toBeLessThanOrEqual(boundBps(scenario) * (1 + 1e-9));
  });
});

describe('what the models say of a transfer', () => {
  test('is nothing where they know nothing: ranges, aria2, relays', () => {
    const others: Variant[] = [
      { kind: 'ranges', connections: 8 },
      { kind: 'aria2', connections: 16 },
      { kind: 'relays', through: 'haproxy' },
    ];
    for (const variant of others) {
      expect(predictedBps(line(), variant)).toBeUndefined();
      expect(predictedFirstByteMs(line(), variant)).toBeUndefined();
    }
  });

  test('takes a small window or a loss for what holds one connection back, and not a chain', () => {
    // 0.6 of 256 KiB in each 100 ms.
    const limited = line({ clientBufferBytes: 262_144 });
    expect(predicted(limited, DIRECT) / 1e6).toBeGreaterThan(11);
    expect(predicted(limited, DIRECT) / 1e6).toBeLessThan(12.6);
    expect(predicted(limited, CHAIN)).toBeGreaterThan(4 * predicted(limited, DIRECT));
    const lossy = line({ loss: 1e-3 });
    expect(predicted(lossy, CHAIN)).toBeGreaterThan(2 * predicted(lossy, DIRECT));
    expect(predicted(line(), CHAIN)).toBeLessThan(1.2 * predicted(line(), DIRECT));
  });

  test('lets origins send by CUBIC and depots by BBR, unless the topology says otherwise', () => {
    const lossy = (depotControl?: CongestionControl) =>
      predicted(line({ loss: 0.01, ...(depotControl ? { depotControl } : {}) }), {
        kind: 'chain',
        // The long leg is then the depot's, the short one without trouble the origin's.
        depots: ['far'],
      });
    expect(lossy('bbr')).toBe(lossy());
    expect(lossy('cubic')).toBeLessThan(lossy());
  });

  test('is the same for every hop whichever end of a link stands first', () => {
    const scenario = line({ loss: 1e-3 });
    const { topology } = scenario;
    const turned = topology.links.map((link) =>
      'wire' in link ? link : { ...link, between: [link.between[1], link.between[0]] as const },
    );
    const other = { ...scenario, topology: { ...topology, links: turned } };
    for (const variant of [DIRECT, CHAIN])
      expect(predicted(other, variant)).toBe(predicted(scenario, variant));
  });
});

describe('what the models say of the first byte', () => {
  test('is two round trips over http and three over https', () => {
    expect(predictedFirstByteMs(line(), DIRECT)).toBeCloseTo(200);
    expect(predictedFirstByteMs(line({ tls: true }), DIRECT)).toBeCloseTo(300);
  });

  test('has the redirect of the master on top, which stands at the first depot', () => {
    expect(predictedFirstByteMs(line(), { kind: 'auto' })).toBeCloseTo(200 + 2 * 10);
    expect(predictedFirstByteMs(line({ tls: true }), { kind: 'auto' })).toBeCloseTo(300 + 3 * 10);
  });

  test('led stepwise has a visit to every depot, and one connection between the first two', () => {
    const stepwise = { ...CHAIN, signalling: 'stepwise' } as const;
    expect(predictedFirstByteMs(line(), stepwise)).toBeCloseTo(2 * 10 + 2 * (60 + 10) + 2 * 50);
    const alone = { kind: 'chain', depots: ['near'] } as const;
    expect(predictedFirstByteMs(line(), { ...alone, signalling: 'stepwise' })).toBe(
      predictedFirstByteMs(line(), alone),
    );
  });

  test('does not grow with the depots: what the origin is told first goes along while the chain is built', () => {
    const near = { kind: 'chain', depots: ['near'] } as const;
    for (const tls of [false, true]) {
      const scenario = { ...line(), tls };
      const [one = 0, two = 0] = [near, CHAIN].map((chain) => predictedFirstByteMs(scenario, chain));
      expect(two).toBeCloseTo(one);
    }
  });
});
