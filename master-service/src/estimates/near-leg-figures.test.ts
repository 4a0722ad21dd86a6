import { expect, test } from 'vitest';
import { Facts } from '../facts/facts.ts';
import { LINK_FACTS, LinkTable } from '../planning/links/link-table.ts';

const NOW = 1_795_000_000_000;

/** A master that hears a depot, and another one that hears of it. */
function tellingMasters() {
  const [here, there] = ['one', 'two'].map((source) => new Facts({ kinds: LINK_FACTS, source })) as [
    Facts,
    Facts,
  ];
  const [measured, told] = [new LinkTable([], 1e6, here), new LinkTable([], 1e6, there)];
  let tellings = 0;
  here.tellOthers((fact) => {
    tellings += 1;
    there.store.take(fact, fact.timeMs);
  });
  return { measured, told, tellings: () => tellings };
}

/** From 0 to below 1, always the same. */
function noise(step: number): number {
  const value = Math.sin(step * 12.9898) * 43_758.5453;
  return value - Math.floor(value);
}

function report(second: number, rttMs: number, goodputBps: number) {
  const near = (value: number, salt: number) => value * (0.9 + 0.2 * noise(second * 7 + salt));
  const retransmittedBytes = 200 * noise(second * 7 + 3);
  return {
    to: 'd2',
    rttMs: near(rttMs, 1),
    goodputBps: near(goodputBps, 2),
    sentBytes: 1_000_000,
    retransmittedBytes,
  };
}

test('a link that is measured each second and stays as it is, is told a few times a minute, and known elsewhere nearly as it is here', () => {
  const { measured, told, tellings } = tellingMasters();
  let before = 0;
  for (let second = 0; second < 600; second += 1) {
    if (second === 300) before = tellings();
    const nowMs = NOW + second * 1000;
    measured.report('d1', report(second, 80, 50e6), nowMs);
    const [here, there] = [measured, told].map((table) => table.estimate('d2', 'd1', nowMs));
    if (!here || !there) throw new Error('the link is not known');
    for (const figure of ['rttMs', 'goodputBps'] as const) {
      const ratio = (here[figure] ?? 0) / (there[figure] ?? 0);
      expect(Math.max(ratio, 1 / ratio)).toBeLessThanOrEqual(1.1);
    }
    expect((there.ageMs ?? 0) - (here.ageMs ?? 0)).toBeLessThan(30_000);
  }
  expect((tellings() - before) / 5).toBeLessThan(4);
});

test('a link that becomes another one is known to be so at once', () => {
  const { measured, told } = tellingMasters();
  for (let second = 0; second < 60; second += 1)
    measured.report('d1', report(second, 80, 50e6), NOW + second * 1000);
  for (let second = 60; second < 80; second += 1) {
    const nowMs = NOW + second * 1000;
    measured.report('d1', report(second, 240, 5e6), nowMs);
    const [here = 0, there = 0] = [measured, told].map((table) => table.estimate('d2', 'd1', nowMs)?.rttMs);
    expect(Math.max(here / there, there / here)).toBeLessThanOrEqual(1.1);
  }
  expect(told.estimate('d2', 'd1', NOW + 80_000)?.rttMs).toBeGreaterThan(160);
});
