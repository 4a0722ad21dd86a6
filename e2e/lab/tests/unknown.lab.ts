import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { UnknownWorld } from '../experiments/unknown-world.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { labObstacle } from '../requirements.ts';
import { readLineFile } from '../results/result-file.ts';
import { measureUnknown, readUnknownCommand } from '../unknown/unknown-command.ts';
import { unknownLineSchema } from '../unknown/unknown-line.ts';

const link = (one: string, other: string, rttMs: number) => ({
  between: [one, other] as const,
  rttMs,
  rateBps: 50e6,
  queue: { bytes: 200_000 },
});

/** Two clients, two origins, two depots and two states, and files that are over at once. */
const SMALL: UnknownWorld = {
  topology: {
    name: 'a small unknown world',
    sites: {
      one: { role: 'client' },
      two: { role: 'client' },
      near: { role: 'depot' },
      far: { role: 'depot' },
      left: { role: 'origin' },
      right: { role: 'origin', congestionControl: 'bbr' },
    },
    links: [
      link('one', 'near', 4),
      link('two', 'near', 6),
      link('near', 'far', 30),
      link('left', 'far', 4),
      link('right', 'far', 6),
    ],
  },
  master: 'near',
  depots: ['near', 'far'],
  clients: ['one', 'two'],
  origins: ['left', 'right'],
  sizeBytes: 300_000,
  states: {
    quiet: { label: 'as it began' },
    narrow: {
      label: 'near-far has 2 Mbit/s',
      changed: [{ link: ['near', 'far'], to: { rateBps: 2e6 } }],
    },
  },
  spells: [
    { state: 'quiet', downloads: 2 },
    { state: 'narrow', downloads: 2, clients: ['one'], origins: ['left'] },
  ],
};
const obstacle = labObstacle();

describe.skipIf(obstacle)(`an unknown world${obstacle ? ` (skipped: ${obstacle.message})` : ''}`, () => {
  afterAll(closeAllNetworks);

  test('is measured by hand, then planned by a fresh overlay, and becomes a page', async ({
    onTestFinished,
  }) => {
    const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-unknown-'));
    onTestFinished(() => rmSync(outFolder, { recursive: true }));
    const plansFolder = join(outFolder, 'plans');
    const command = {
      ...readUnknownCommand(['--ways', '1', '--measurements', '1']),
      outFolder,
      plansFolder,
    };
    const page = await measureUnknown(command, 'unused', () => {}, new AbortController().signal, SMALL);
    const { lines } = readLineFile(join(outFolder, 'unknown.jsonl'), unknownLineSchema);
    expect(lines.filter(({ isRight }) => !isRight)).toEqual([]);
    const auto = lines.flatMap((line) => (line.kind === 'auto' ? [line] : []));
    expect(auto.map(({ state }) => state)).toEqual(['quiet', 'quiet', 'narrow', 'narrow']);
    const oracle = lines.flatMap((line) => (line.kind === 'oracle' ? [line] : []));
    // Directly and over one chain: two pairs as it began, and one when that has changed.
    expect(oracle).toHaveLength(2 * 3);
    const direct = (state: string) =>
      Math.max(
        ...oracle.flatMap((line) => (line.state === state && line.chain.length === 0 ? [line.seconds] : [])),
      );
    // The line alone takes 1.2 s then.
    expect(direct('quiet')).toBeLessThan(1.2);
    expect(direct('narrow')).toBeGreaterThan(1.2);
    // Nobody knew anything yet. A plan that is asked for behind that may be another one: more is known by then.
    expect(auto[0]?.chain).toEqual([]);
    expect(JSON.parse(readFileSync(join(plansFolder, '1.json'), 'utf8'))).toMatchObject({
      decision: expect.stringMatching(/^(direct|chain)$/),
      reasons: expect.any(Array),
    });
    expect(readFileSync(page, 'utf8')).toContain('Change before download 3 (narrow)');
    expect(
      readFileSync(
        join(outFolder, 'pictures', `${auto.length > 0 ? page.slice(-21, -3) : ''}-regret.svg`),
        'utf8',
      ),
    ).toContain('<svg');
  }, 120_000);
});
