import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { measureModel, readModelCommand } from '../model/model-command.ts';
import { closeAllNetworks } from '../network/start-network.ts';
import { labObstacle } from '../requirements.ts';
import { readResults } from '../results/result-file.ts';

/** Two cells with a mouse, and the topology of one depot with a small file. */
const SCENARIOS = 'cubic-10ms-0-big-q2-300k,bbr-40ms-1e-3-big-q2-300k,t03';
/** The machine may stall in one of them. */
const REPEATS = 3;
const obstacle = labObstacle();

describe.skipIf(obstacle)(`the planner's model${obstacle ? ` (skipped: ${obstacle.message})` : ''}`, () => {
  afterAll(closeAllNetworks);

  test('is held against single legs and a drawn topology, goes on after an interruption, and becomes a page', async ({
    onTestFinished,
  }) => {
    const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-model-'));
    onTestFinished(() => rmSync(outFolder, { recursive: true }));
    const args = ['--scenarios', SCENARIOS, '--topologies', '3', '--repeat', String(REPEATS)];
    const command = { ...readModelCommand(args), outFolder };
    const interrupted = new AbortController();
    const interrupt = (text: string) => {
      if (text.startsWith('[ 2/10]')) interrupted.abort();
    };
    await expect(measureModel(command, 'unused', interrupt, interrupted.signal)).rejects.toThrow(/abort/);
    const said: string[] = [];
    const page = await measureModel(
      command,
      'unused',
      (text) => said.push(text),
      new AbortController().signal,
    );
    expect(said).toContain('going on after 2 of 10 transfers');
    const { lines, info } = readResults(join(outFolder, 'model.jsonl'));
    expect(info.resumedAt).toHaveLength(1);
    expect(lines.filter(({ sha256Ok }) => !sha256Ok)).toEqual([]);
    const variants = Map.groupBy(lines, ({ variant }) => variant);
    // Drawn topologies have fewer repeats.
    expect([variants.get('chain')?.length, variants.get('direct')?.length]).toEqual([2, 2 * REPEATS + 2]);
    // Five doublings of 10 ms carry a mouse, and four round trips of the other's handshake and first data take 0.16 s.
    const secondsOf = (part: string) =>
      Math.min(...lines.filter(({ scenario }) => scenario.includes(part)).map(({ seconds }) => seconds));
    expect(secondsOf('cubic-10ms')).toBeLessThan(0.2);
    expect(secondsOf('bbr-40ms')).toBeGreaterThan(0.16);
    expect(readFileSync(page ?? '', 'utf8')).toMatch(/\| drawn topologies \| 2 \|/);
  }, 120_000);
});
