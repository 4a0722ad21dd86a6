import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { readCommandLine } from '../command-line.ts';
import { readLineFile } from '../results/result-file.ts';
import { median } from '../results/statistics.ts';
import { drawDownloads } from './draw-downloads.ts';
import { type Download, Oracle, trueSeconds } from './oracle.ts';
import { readSimCommand, simulate } from './sim-command.ts';
import type { SimDecision } from './sim-decision.ts';
import { isTold, type SimLine, simLineSchema } from './sim-line.ts';
import { SimulatedMaster } from './simulated-master.ts';
import { type End, USUAL_SHAPE, World, type WorldShape } from './world.ts';

const SIZE = { depots: 12, prefixes: 2000, origins: 500 };

const drawn = (world: World, downloads: number): Download[] => [
  ...drawDownloads(world, { downloads, hours: 48, seed: 1 }),
];

describe('the drawn world', () => {
  test('is the same for one seed, whatever was asked before, and another one for another seed', () => {
    const [one, same, other] = [new World(SIZE, 1), new World(SIZE, 1), new World(SIZE, 2)];
    const leg = (world: World) => world.leg(world.client(7), world.origin(9), 5 * 3_600_000);
    drawn(one, 20);
    expect(leg(one)).toEqual(leg(same));
    expect(leg(one)).not.toEqual(leg(other));
  });

  test('changes with the time: now and then a way is full, and then slower', () => {
    const world = new World(SIZE, 1);
    const legs = Array.from({ length: 400 }, (_, hour) =>
      world.leg(world.client(3), world.origin(4), hour * 3_600_000),
    );
    const usual = median(legs.map(({ rttMs }) => rttMs));
    const full = legs.filter(({ rttMs }) => rttMs > usual + 1);
    expect(full.length).toBeGreaterThan(4);
    expect(full.length).toBeLessThan(100);
    const usualLoss = median(legs.map(({ lossRate }) => lossRate));
    for (const { lossRate } of full) expect(lossRate).toBeGreaterThan(usualLoss);
  });

  test("has depots in some cities only, origins in a client's city, and content networks near everybody, as far as that is asked for", () => {
    const world = (shape: Partial<WorldShape>) =>
      new World({ ...SIZE, shape: { ...USUAL_SHAPE, ...shape } }, 1);
    const rttMs = (drawn: World, one: End, other: End) => drawn.leg(one, other, 0).rttMs;
    const [usual, oneCity] = [world({}), world({ depotCities: 1 })];
    expect(usual.leg(usual.client(7), usual.origin(9), 0)).toEqual(
      new World(SIZE, 1).leg(usual.client(7), usual.origin(9), 0),
    );
    for (let depot = 1; depot < SIZE.depots; depot += 1)
      expect(rttMs(oneCity, oneCity.depot(0), oneCity.depot(depot))).toBeLessThan(20);
    const local = world({ localPercent: 100 });
    const content = world({ contentPercent: 100 });
    const medianMs = (drawn: World, originOf: (client: number) => End) =>
      median(Array.from({ length: 50 }, (_, client) => rttMs(drawn, drawn.client(client), originOf(client))));
    expect(medianMs(usual, (client) => usual.origin(client))).toBeGreaterThan(80);
    expect(medianMs(local, (client) => local.origin(client))).toBeLessThan(30);
    expect(medianMs(content, () => content.origin(0))).toBeLessThan(30);
  });

  test('gains by relays about what was measured in the real one: most ways, with a long tail', () => {
    const world = new World({ ...SIZE, depots: 100 }, 1);
    const oracle = new Oracle(world);
    const gains = drawn(world, 150).map(
      (download) => trueSeconds(world, download, { depots: [], lanes: 1 }) / oracle.best(download).seconds,
    );
    const better = gains.filter((gain) => gain > 1.1).length / gains.length;
    expect(better).toBeGreaterThan(0.65);
    expect(better).toBeLessThan(0.9);
    expect(median(gains)).toBeGreaterThan(1.3);
    expect(median(gains)).toBeLessThan(2);
  });
});

test('the oracle is hardly ever beaten by all chains of up to three depots', () => {
  const world = new World(SIZE, 3);
  const oracle = new Oracle(world);
  const numbers = Array.from({ length: SIZE.depots }, (_, number) => number);
  const chains = [[], ...numbers.map((one) => [one])];
  const longer = (from: readonly number[][]) =>
    from.flatMap((chain) =>
      numbers.filter((number) => !chain.includes(number)).map((number) => [...chain, number]),
    );
  const pairs = longer(numbers.map((one) => [one]));
  const all = [...chains, ...pairs, ...longer(pairs)];
  const missed = drawn(world, 25).map((download) => {
    const seconds = all.flatMap((depots) =>
      [1, 2, 4, 8].map((lanes) => trueSeconds(world, download, { depots, lanes })),
    );
    return oracle.best(download).seconds / Math.min(...seconds) - 1;
  });
  expect(Math.min(...missed)).toBeGreaterThanOrEqual(-1e-9);
  expect(missed.reduce((sum, one) => sum + one, 0) / missed.length).toBeLessThan(0.005);
});

describe('sim:map', () => {
  test('lets the real planner plan, ends its master once, and makes a page of regret', async ({
    onTestFinished,
  }) => {
    const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-sim-'));
    onTestFinished(() => rmSync(outFolder, { recursive: true }));
    const command = {
      ...readSimCommand(['--depots', '6', '--downloads', '120', '--hours', '240']),
      outFolder,
    };
    const page = await simulate(command, 'unused', () => {}, new AbortController().signal);
    const { lines } = readLineFile(join(outFolder, 'sim-map.jsonl'), simLineSchema);
    expect(lines).toHaveLength(6 * 20);
    expect(lines.filter(({ restart }) => restart)).toHaveLength(6);
    const of = (knowledge: SimLine['knowledge']) => {
      const own = lines.filter(isTold).filter((line) => line.knowledge === knowledge);
      return own.reduce((sum, { score }) => sum + score, 0) / own.length;
    };
    expect(of('informed')).toBeGreaterThan(of('typed'));
    expect(of('typed')).toBeGreaterThan(of('none'));
    expect(of('informed')).toBeGreaterThan(0.9);
    // Of so few downloads hardly two have an end in common.
    expect(of('measured')).toBeGreaterThan(of('none') - 0.02);
    for (const { regret } of lines.filter(isTold)) expect(regret.median).toBeGreaterThanOrEqual(0);
    expect(readFileSync(page, 'utf8')).toContain('## Mean regret over time');
    expect(readFileSync(page, 'utf8')).toContain('## The restart');
    expect(readFileSync(page, 'utf8')).toMatch(/Lies cost those who do not lie -?[\d.]+ %/);
    const kept = lines.find(({ knowledge, restart }) => knowledge === 'measured' && restart)?.restart;
    expect(kept).toMatchObject({ refused: 0 });
    expect(kept?.facts).toBeGreaterThan(100);
  }, 120_000);

  test('has no figures of a time in which nobody downloads who does not lie, and makes its page all the same', async ({
    onTestFinished,
  }) => {
    const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-sim-'));
    onTestFinished(() => rmSync(outFolder, { recursive: true }));
    const command = { ...readSimCommand(['--downloads', '20', '--knowledge', 'measured']), outFolder };
    const page = await simulate(command, 'unused', () => {}, new AbortController().signal);
    const { lines } = readLineFile(join(outFolder, 'sim-map.jsonl'), simLineSchema);
    expect(lines).toHaveLength(20);
    const untold = lines.filter((line) => !isTold(line));
    expect(untold).not.toEqual([]);
    for (const line of untold) expect(line).toMatchObject({ downloads: 0, carriedBytes: 0 });
    const text = readFileSync(page, 'utf8');
    expect(text).toContain(`In ${untold.length} of 20 parts nobody downloaded who does not lie`);
    expect(text).not.toMatch(/NaN|Infinity/);
  }, 60_000);

  test('keeps the decisions of what was finished when an interrupted run goes on, in a folder that it makes', async ({
    onTestFinished,
  }) => {
    const outFolder = mkdtempSync(join(tmpdir(), 'longhaul-sim-'));
    onTestFinished(() => rmSync(outFolder, { recursive: true }));
    const decisionsFile = join(outFolder, 'new', 'decisions.jsonl');
    const options = ['--depots', '3', '--downloads', '20', '--knowledge', 'none,typed'];
    const command = { ...readSimCommand(options), outFolder, decisionsFile };
    const decisions = () => readFileSync(decisionsFile, 'utf8');
    const run = (interruptAt?: string) => {
      const interrupted = new AbortController();
      const say = (text: string) => {
        if (text.startsWith(interruptAt ?? 'never')) interrupted.abort();
      };
      return simulate(command, 'unused', say, interrupted.signal);
    };
    await expect(run('typed 3 of')).rejects.toThrow('aborted');
    const before = decisions();
    expect(before.split('\n')).toHaveLength(20 + 3 + 1);
    // As a crash leaves it.
    truncateSync(decisionsFile, Buffer.byteLength(before) - 9);
    await run();
    expect(decisions().slice(0, before.length)).toBe(before);
    const numbers = decisions()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as SimDecision)
      .map(({ knowledge, number }) => `${knowledge} ${number}`);
    const all = Array.from({ length: 20 }, (_, at) => at + 1);
    expect(numbers).toEqual([
      ...all.map((number) => `none ${number}`),
      ...all.map((number) => `typed ${number}`),
    ]);
    await run();
    expect(decisions().trimEnd().split('\n')).toHaveLength(40);
  }, 60_000);

  test('leaves nothing behind when it is interrupted', async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-sim-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const main = join(import.meta.dirname, '../main.ts');
    const lab = spawn(process.execPath, [main, 'sim:map', '--knowledge', 'measured', '--out', folder], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void lab.kill('SIGKILL'));
    const ended = once(lab, 'exit');
    for await (const line of createInterface({ input: lab.stderr }))
      if (line.startsWith('measured 1 of')) break;
    const folders = () => readdirSync(folder).filter((name) => name.startsWith('longhaul-sim-master-'));
    expect(folders()).toHaveLength(1);
    lab.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(folders()).toEqual([]);
  }, 60_000);

  test('a master that is started again plans as it did before, and one that has lost its file does not', async ({
    onTestFinished,
  }) => {
    const stateDir = mkdtempSync(join(tmpdir(), 'longhaul-sim-'));
    onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
    const start = async (nowMs: number) => {
      const begin = { type: 'begin', depots: 3, links: [], stateDir, nowMs } as const;
      const started = await SimulatedMaster.start(begin);
      onTestFinished(() => started.master.stop());
      return started;
    };
    const plan = async (master: SimulatedMaster, nowMs: number) => {
      const who = { client: '10.0.0.1', origin: 'o.example' };
      const planned = await master.plan({
        type: 'plan',
        sizeBytes: 1e9,
        nowMs,
        ends: [],
        who,
        isExplained: false,
      });
      const { chain, lanes, predictedSeconds } = planned;
      return { chain, lanes, predictedSeconds };
    };
    const { master } = await start(0);
    const ends = { type: 'ends-report', from: 'd0', nowMs: 1000 } as const;
    const lossy = { sentBytes: 1e8, retransmittedBytes: 1e5 };
    master.tell({ ...ends, clients: [{ prefix: '10.0.0.0/24', rttMs: 150, ...lossy }], origins: [] });
    master.tell({ ...ends, clients: [], origins: [{ host: 'o.example', rttMs: 5 }] });
    const before = await plan(master, 5000);
    expect(before.chain).toEqual(['d0']);
    const who = { client: '10.0.0.1', origin: 'o.example' };
    expect(await master.heard({ type: 'heard', who, nowMs: 5000 })).toEqual(['d2', 'd1']);
    await master.save(5000);
    await master.stop();
    const again = await start(5000);
    expect(again).toMatchObject({ facts: 3, refused: 0 });
    expect(await plan(again.master, 5000)).toEqual(before);
    await again.master.stop();
    rmSync(stateDir, { recursive: true });
    const empty = await start(5000);
    expect(empty).toMatchObject({ facts: 0, refused: 0 });
    expect((await plan(empty.master, 5000)).chain).toEqual([]);
  }, 60_000);

  test('refuses with every mistake at once', () => {
    expect(() =>
      readCommandLine(['sim:map', 'fast', '--depots', '0', '--knowledge', 'all', '--restart', 'now']),
    ).toThrow(
      /'fast' means nothing here; there is no knowledge 'all'.*; --restart takes keep, forget, none, not 'now'; --depots 0 must be/,
    );
    expect(readCommandLine(['sim:map', '--help'])).toEqual({ kind: 'help' });
  });
});
