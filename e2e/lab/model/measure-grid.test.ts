import { describe, expect, test } from 'vitest';
import { checkTopology } from '../network/check-topology.ts';
import { pathBetween } from '../network/routes.ts';
import { assignLinks } from './assign-links.ts';
import { GRID_CELLS } from './grid-cells.ts';
import { cellOf } from './imagined-lines.ts';
import { LatenessOfEach } from './lateness-of-each.ts';
import { sideBySideTopology } from './parallel-links.ts';

describe('links beside each other', () => {
  test('are each that of their cell and share none with another', () => {
    const cells = ['cubic-10ms-0-big-q2-3M', 'bbr-80ms-1e-3-limited-q2-3M'].map((id) => cellOf(id).scenario);
    const topology = sideBySideTopology(cells);
    expect(() => checkTopology(topology)).not.toThrow();
    const paths = [1, 2].map((link) => pathBetween(topology, `origin-${link}`, `client-${link}`));
    expect(paths.map(({ links }) => links.length)).toEqual([1, 1]);
    expect(paths.map(({ rttMs }) => rttMs)).toEqual([10, 80]);
    expect(topology.sites['origin-2']?.congestionControl).toBe('bbr');
    expect(topology.sites['client-2']?.receiveBufferBytes).toBe(
      cells[1]?.topology.sites['client']?.receiveBufferBytes,
    );
  });

  test('have every transfer once, and those that fill a line on one link fewer than may be filled', () => {
    const transfers = GRID_CELLS.map((cell) => ({ cell, repeat: 1 }));
    const work = assignLinks(transfers, 4);
    expect(work.flatMap((link) => link.transfers)).toHaveLength(transfers.length);
    expect(new Set(work.flatMap((link) => link.transfers))).toEqual(new Set(transfers));
    const linksOf = (id: string) =>
      work.filter((link) => link.transfers.some(({ cell }) => cell.scenario.id.includes(id))).length;
    expect(linksOf('10ms-0-big-q2-30M')).toBeLessThanOrEqual(3);
    const fast = work.filter((link) =>
      link.transfers.some(({ cell }) => cell.scenario.id.endsWith('10ms-0-big-q2-30M')),
    );
    for (const { transfers: own } of fast)
      expect(own.map(({ cell }) => cell.scenario.id)).not.toContain('cubic-160ms-3e-2-big-q2-3M');
  });

  test('are through at about the same time where they are of one kind', () => {
    const work = assignLinks(
      [1, 2, 3, 4, 5, 6].flatMap((repeat) => GRID_CELLS.map((cell) => ({ cell, repeat }))),
      4,
    );
    for (const kind of [work.slice(0, 3), work.slice(3)]) {
      const seconds = kind.map((link) => link.seconds);
      expect(Math.min(...seconds)).toBeGreaterThan(0.8 * Math.max(...seconds));
    }
  });
});

test('a transfer is told the worst lateness while it ran, and nothing of before and after', async () => {
  const readings = [50, 1, 7, 2, 90];
  const lateness = new LatenessOfEach(() => Promise.resolve(readings.shift() ?? 0));
  // Before both 50, between their beginnings 1, until the first has ended 7, until the second has 2.
  const endFirst = await lateness.begin();
  const endSecond = await lateness.begin();
  expect(await endFirst()).toBe(7);
  expect(await endSecond()).toBe(7);
  const endThird = await lateness.begin();
  expect(await endThird()).toBe(0);
});
