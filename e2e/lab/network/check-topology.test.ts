import { describe, expect, test } from 'vitest';
import { LabRefusal } from '../refusal.ts';
import { checkTopology } from './check-topology.ts';
import type { CrossTraffic, EmulatedLink, Topology } from './topology.ts';

const link = (first: string, second: string, change: Partial<EmulatedLink> = {}): EmulatedLink => ({
  between: [first, second],
  rttMs: 10,
  rateBps: 1e6,
  queue: { bytes: 10_000 },
  ...change,
});

const right: Topology = {
  name: 'small',
  sites: { origin: { role: 'origin' }, near: { role: 'depot' }, client: { role: 'client' } },
  links: [link('origin', 'near'), { wire: ['near', 'client'] }],
};

function refusal(topology: Topology, traffic: readonly CrossTraffic[] = []): string {
  try {
    checkTopology(topology, traffic);
  } catch (failure) {
    if (failure instanceof LabRefusal && failure.code === 'lab-topology-invalid') return failure.message;
    throw failure;
  }
  return '';
}

describe('a topology', () => {
  test('that is right is taken, with the traffic that crosses it', () => {
    expect(refusal(right, [{ from: 'origin', to: 'client', flows: 4 }])).toBe('');
  });

  test('is refused with every mistake in one sentence', () => {
    const message = refusal({
      ...right,
      sites: { ...right.sites, Far_Away: { role: 'router' }, crowd: { role: 'client', addresses: 255 } },
      links: [...right.links, link('near', 'moon'), link('near', 'near'), link('near', 'origin')],
    });
    expect(message).toContain("topology 'small'");
    expect(message).toContain("'Far_Away' is not of 1 to 12 letters");
    expect(message).toContain("site 'crowd' has 255 addresses, not 1 to 254");
    expect(message).toContain("'moon': known are origin, near, client, Far_Away, crowd");
    expect(message).toContain('near-near joins a site with itself');
    expect(message).toContain('near-origin is there twice');
  });

  test.each<[string, Partial<EmulatedLink>, string]>([
    ['a negative round-trip time', { rttMs: -1 }, 'rttMs is -1'],
    ['a round-trip time that is no number', { rttMs: Number.NaN }, 'rttMs is NaN'],
    ['no rate', { rateBps: 0 }, 'rateBps is 0'],
    ['a loss above one', { loss: 1.5 }, 'loss.rate is 1.5'],
    ['no queue', { queue: { packets: 0 } }, 'queue is 0 packets'],
    ['a rate left out', { rateBps: undefined }, 'rateBps is missing'],
    ['a queue left out', { queue: undefined }, 'queue is missing'],
    [
      'a way back whose rate is taken away',
      { backward: { rateBps: undefined as never } },
      'backward: rateBps is missing',
    ],
    [
      'more under way than the emulator holds',
      { rttMs: 1200, rateBps: 2e9, queue: { bytes: 1e6 } },
      'rate x delay + queue is 152 MB, of which the emulator holds 67.1 MB',
    ],
    ['a negative jitter', { jitterMs: -2 }, 'jitterMs is -2'],
    ['an impossible way back', { backward: { rateBps: -5 } }, 'backward: rateBps is -5'],
    [
      'an impossible burst model',
      { loss: { kind: 'gilbert-elliott', toBad: 2, toGood: 1, lossInGood: 0, lossInBad: 1 } },
      'loss.toBad is 2',
    ],
  ])('with %s is refused, and the link named', (_, change, expected) => {
    const message = refusal({
      ...right,
      links: [link('origin', 'near', change), { wire: ['near', 'client'] }],
    });
    expect(message).toContain(`the link origin-near: ${expected}`);
  });

  test('is refused when a site cannot be reached', () => {
    expect(refusal({ ...right, sites: { ...right.sites, alone: { role: 'router' } } })).toContain(
      "no links lead from 'origin' to 'alone'",
    );
  });

  test('is refused with a buffer the kernel would not take', () => {
    const sites = { ...right.sites, client: { role: 'client', receiveBufferBytes: 100 } } as const;
    expect(refusal({ ...right, sites })).toContain("site 'client' has receiveBufferBytes 100");
  });
});

describe('cross traffic', () => {
  test('is refused when its sites are unknown or the same, or it has no flows', () => {
    const message = refusal(right, [
      { from: 'origin', to: 'mars', flows: 1 },
      { from: 'near', to: 'near', flows: 0 },
    ]);
    expect(message).toContain("from 'origin' to 'mars' names the unknown site 'mars'");
    expect(message).toContain("from 'near' to 'near' stays at its site");
    expect(message).toContain('has 0 flows');
  });
});
