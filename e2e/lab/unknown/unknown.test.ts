import { describe, expect, test } from 'vitest';
import { readCommandLine } from '../command-line.ts';
import { UNKNOWN_WORLDS } from '../experiments/unknown.ts';
import { EUROPE } from '../experiments/unknown-europe.ts';
import { describeRun } from '../results/run-info.ts';
import { sideBySide, type Task } from '../run/side-by-side.ts';
import {
  type AutoLine,
  type OracleLine,
  outcomeOf,
  type UnknownLine,
  unknownLineSchema,
} from './unknown-line.ts';
import { unknownPage } from './unknown-page.ts';
import { bestWays, checkWorld, drawDownloads, measuredPairs, occupiedBy } from './unknown-plan.ts';
import {
  directScoreOf,
  firstsAgainstDirect,
  followings,
  hasOracle,
  predictionError,
  regretOf,
  type Scored,
  scoredDownloads,
  scoreOf,
} from './unknown-scores.ts';

const common = { client: 'c', origin: 'o', isRight: true, latenessMs: 1, load: 0, lanes: 1 };
const oracle = (chain: string[], seconds: number, state = 'quiet', repeat = 1): OracleLine => ({
  kind: 'oracle',
  ...common,
  state,
  chain,
  seconds,
  repeat,
});
const auto = (number: number, seconds: number, rest: Partial<AutoLine> = {}): AutoLine => ({
  kind: 'auto',
  ...common,
  state: 'quiet',
  chain: [],
  seconds,
  attempt: 1,
  number,
  spell: 0,
  atSeconds: 10 * number,
  measuringBytes: 0,
  carriedBytes: 0,
  ...rest,
});

describe('the world', () => {
  test.each(Object.entries(UNKNOWN_WORLDS))(
    'of %s is one that can be, and has six depots or more',
    (_, world) => {
      expect(() => checkWorld(world)).not.toThrow();
      expect(world.depots.length).toBeGreaterThanOrEqual(6);
    },
  );

  test('that names what is not there is refused', () => {
    const spells = [{ state: 'storm', downloads: 1 }];
    expect(() => checkWorld({ ...EUROPE, master: 'oslo', spells })).toThrow(
      /no site 'oslo'; there is no state 'storm'/,
    );
  });

  test('has every pair download once before one comes again, the same for one seed', () => {
    const drawn = drawDownloads(EUROPE, 1);
    const pairs = EUROPE.clients.length * EUROPE.origins.length;
    const first = drawn.slice(0, pairs).map(({ client, origin }) => `${client} ${origin}`);
    expect(new Set(first).size).toBe(pairs);
    expect(drawn).toEqual(drawDownloads(EUROPE, 1));
    expect(drawn).not.toEqual(drawDownloads(EUROPE, 2));
    const known = new Set(measuredPairs(EUROPE).map((pair) => JSON.stringify(pair)));
    for (const { client, origin, state } of drawn)
      expect(known).toContain(JSON.stringify({ state, client, origin }));
  });
});

describe('the ways that are measured', () => {
  const museum = { client: 'campus', origin: 'museum' };

  test('are direct and the best by the true links as they are in the state', () => {
    const best = (state: string) => bestWays(EUROPE, { ...museum, state }, 3);
    expect(best('quiet').map(({ depots }) => depots.length)[0]).toBe(0);
    expect(best('quiet')).toHaveLength(4);
    const over = (state: string, depot: string) =>
      best(state)
        .slice(1)
        .every(({ depots }) => depots.includes(depot));
    // Around the narrow link by mad.
    expect(over('quiet', 'mad')).toBe(false);
    expect(over('narrowed', 'mad')).toBe(true);
  });

  test('go on side by side where they share neither an end nor a narrow link', async () => {
    const direct = { depots: [], lanes: 1 };
    const needs = (client: string, origin: string) =>
      occupiedBy(EUROPE, { client, origin, state: 'quiet' }, direct);
    const log: string[] = [];
    const task = (name: string, own: ReadonlySet<string>): Task => ({
      needs: own,
      run: async () => {
        log.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`${name} ends`);
      },
    });
    await sideBySide(
      [
        task('home from near', needs('home', 'near')),
        task('home from mirror', needs('home', 'mirror')),
        task('village from mirror', needs('village', 'mirror')),
      ],
      2,
    );
    expect(log).toEqual([
      'home from near begins',
      'village from mirror begins',
      'home from near ends',
      'village from mirror ends',
      'home from mirror begins',
      'home from mirror ends',
    ]);
  });

  test('that fail end the run, with what went wrong first', async () => {
    const fails = (text: string) => ({ needs: new Set([text]), run: () => Promise.reject(new Error(text)) });
    await expect(sideBySide([fails('first'), fails('second')], 1)).rejects.toThrow('first');
  });
});

describe('scores', () => {
  const byHand = [
    oracle([], 4),
    oracle(['d1'], 2),
    oracle(['d1'], 2.2, 'quiet', 2),
    oracle(['d1'], 1.8, 'quiet', 3),
  ];

  test('hold a download against the least median of its pair in this state', () => {
    const scored = scoredDownloads([...byHand, oracle([], 1, 'other'), auto(1, 4), auto(2, 2)]);
    expect(scored.map(scoreOf)).toEqual([0.5, 1]);
    expect(scored.map(({ isFirst }) => isFirst)).toEqual([true, false]);
    expect(scored[0]?.directSeconds).toBe(4);
  });

  test('of who took a way three times go by what it took then, where that is less than by hand', () => {
    const way = { chain: ['d1', 'd2'], lanes: 8 };
    const quick = [1, 2.5, 1.25].map((seconds, at) => auto(2 + at, seconds, way));
    const scored = scoredDownloads([...byHand, auto(1, 2.5), ...quick]);
    expect(scored[0]).toMatchObject({ oracleSeconds: 1.25, oracleWay: way, directSeconds: 4 });
    expect(scored.map(scoreOf)).toEqual([0.5, 1.25, 0.5, 1]);
    // Two prove nothing, nor do three over two ways, of another pair, or of an overlay before.
    const others = [{ lanes: 4 }, { origin: 'other' }, { state: 'other' }, { attempt: 0 }];
    for (const other of [undefined, ...others]) {
      const third = other ? [auto(4, 1, { ...way, ...other })] : [];
      const [first] = scoredDownloads([...byHand, auto(1, 2), ...quick.slice(0, 2), ...third]);
      expect(first?.oracleSeconds).toBe(2);
    }
  });

  test('of a download that failed are nothing, and only the last overlay counts', () => {
    const lines = [
      ...byHand,
      auto(1, 2, { isRight: false }),
      auto(1, 1, { attempt: 2 }),
      auto(2, 2, { attempt: 2, isRight: false }),
    ];
    expect(scoredDownloads(lines).map(scoreOf)).toEqual([2, 0]);
  });

  test('tell after how many downloads and seconds a change was followed', () => {
    const lines = [
      ...byHand,
      auto(1, 2),
      ...[4, 4, 2, 2, 2].map((seconds, at) => auto(2 + at, seconds, { spell: 1 })),
      ...[4, 4].map((seconds, at) => auto(7 + at, seconds, { spell: 2 })),
    ];
    expect(followings(scoredDownloads(lines))).toEqual([
      // Two of three are good from the second on.
      { state: 'quiet', firstNumber: 2, after: { downloads: 1, seconds: 10 } },
      { state: 'quiet', firstNumber: 7 },
    ]);
  });

  test('of a pair of which every way by hand failed are none', () => {
    const never = { isRight: false };
    const lines = [
      { ...oracle([], 4), ...never },
      { ...oracle(['d1'], 2), ...never },
      auto(1, 3),
      auto(2, 1, never),
    ];
    const scored = scoredDownloads(lines);
    expect(scored.map(hasOracle)).toEqual([false, false]);
    expect(scored.flatMap((one) => [scoreOf(one), regretOf(one), directScoreOf(one)])).toEqual(
      Array.from({ length: 6 }, () => Number.NaN),
    );
    expect(firstsAgainstDirect(scored)).toEqual([]);
  });

  const cut = { seconds: 90, cut: true as const };

  test('of a download that was cut are at most what it would be if it had ended there', () => {
    const lines = [...byHand, auto(1, 90, cut), auto(2, 90, { ...cut, isRight: false })];
    expect(scoredDownloads(lines).map(scoreOf)).toEqual([2 / 90, 0]);
    expect(regretOf(scoredDownloads(lines)[0] as Scored)).toBe(44);
  });

  test('know no oracle whose median was cut or failed', () => {
    const over = (chain: string[], ...times: (number | 'cut' | 'failed')[]) =>
      times.map((time, at) => ({
        ...oracle(chain, typeof time === 'number' ? time : 90, 'quiet', at + 1),
        ...(time === 'cut' ? cut : {}),
        isRight: time !== 'failed',
      }));
    const best = (...lines: OracleLine[]) => {
      const [scored] = scoredDownloads([...lines, auto(1, 60)]);
      return scored && [scored.oracleSeconds, scored.directSeconds, scored.isDirectBound];
    };
    expect(best(...over([], 'cut', 'cut', 5), ...over(['d1'], 95, 95, 'cut'))).toEqual([95, 90, true]);
    expect(best(...over([], 'cut', 5, 'failed'), ...over(['d1'], 70, 80, 'failed'))).toEqual([80, 90, true]);
    expect(best(...over([], 'cut', 5, 6))).toEqual([6, 6, false]);
    expect(best(...over([], 'cut', 'cut'), ...over(['d1'], 'cut', 'failed'))).toEqual([Number.NaN, 90, true]);
  });

  test('against direct leave out a first download that was cut like direct', () => {
    const lines = [
      { ...oracle([], 90), ...cut },
      oracle(['d1'], 80),
      { ...oracle([], 90), ...cut, origin: 'other' },
      auto(1, 90, cut),
      auto(2, 45, { origin: 'other' }),
    ];
    expect(firstsAgainstDirect(scoredDownloads(lines))).toEqual([2]);
  });

  test('of predictions leave out what was cut before it could be as late as predicted', () => {
    const predicted = (predictedSeconds: number) => ({
      plan: { reason: 'r', predictedSeconds, predictedDirectSeconds: 4 },
    });
    const lines = [
      ...byHand,
      auto(1, 90, { ...cut, ...predicted(100) }),
      auto(2, 90, { ...cut, ...predicted(45) }),
    ];
    expect(predictionError(scoredDownloads(lines))).toBeCloseTo(Math.log(2));
  });

  test('are of lines that say what was cut, where it was', () => {
    const outcome = { receivedBytes: 9, ttfbMs: 1, setUpMs: 1, finalUrl: null, isRight: true };
    const line = (isCut: boolean) =>
      unknownLineSchema.parse({ ...oracle([], 0), ...outcomeOf({ ...outcome, seconds: 90, isCut }) });
    expect(line(true)).toEqual({ ...oracle([], 90), cut: true });
    expect(line(false)).toEqual(oracle([], 90));
  });

  const info = describeRun({
    experiment: 'unknown',
    planFingerprint: 'x',
    command: 'npm run lab -- unknown',
    options: { repeat: 1, quick: false, cutSeconds: 90, seed: 1 },
    programs: [],
  });

  test('become a page with charts of those that did not fail, which says how many did', () => {
    const predicted = { plan: { reason: 'r', predictedSeconds: 2, predictedDirectSeconds: 4 } };
    const lines: UnknownLine[] = [
      ...byHand,
      ...Array.from({ length: 25 }, (_, at) => auto(at + 1, 2, { isRight: at !== 22, ...predicted })),
    ];
    const { markdown, pictures } = unknownPage({ info, lines }, 'page');
    expect(markdown).toContain('Failed: 1 of 25 planned downloads.');
    expect(markdown).toContain('The last 20 of the first 25: 0.950 of the oracle');
    expect(markdown).toMatch(/\| 21–25 \| quiet \| 0.800 \| 0.500 \| 0.0 % \| 0 \| 0.0 % \|/);
    expect(markdown).toMatch(/\| 23 \| c \| o \| quiet \| direct \| failed \|/);
    expect([markdown, ...pictures.values()].join()).not.toMatch(/NaN|Infinity/);
  });

  test('become a page also where every way of a pair failed, which says how many downloads that concerns', () => {
    const lines: UnknownLine[] = [
      ...byHand,
      { ...oracle([], 4), origin: 'dead', isRight: false },
      ...Array.from({ length: 25 }, (_, at) => auto(at + 1, 2, at < 3 ? { origin: 'dead' } : {})),
    ];
    const { markdown, pictures } = unknownPage({ info, lines }, 'page');
    expect(markdown).toContain(
      'no way by hand brought the whole file often enough: 3 of 25 planned downloads.',
    );
    expect(markdown).toContain('| c | dead | quiet | never | never |  | 3 |  |');
    expect(markdown).toContain('First download of each of 1 pair:');
    expect([markdown, ...pictures.values()].join()).not.toMatch(/NaN|Infinity/);
  });

  test('become a page that says of what was cut that it takes longer', () => {
    const lines: UnknownLine[] = [
      { ...oracle([], 90), ...cut },
      oracle(['d1'], 9),
      ...Array.from({ length: 25 }, (_, at) => auto(at + 1, 10, at === 22 ? cut : {})),
    ];
    const { markdown } = unknownPage({ info, lines }, 'page');
    expect(markdown).toContain('25 planned; 0 failed, 2 were cut.');
    expect(markdown).toContain('A download that was cut after 90 s takes longer than that');
    expect(markdown).toContain('Cut: 1 of 25 planned downloads.');
    expect(markdown).toContain('| c | o | quiet | > 90.00 s | 9.00 s | d1 | 25 |');
    expect(markdown).toMatch(/\| 23 \| c \| o \| quiet \| direct \| > 90.00 s \|/);
  });

  test('become a page with charts', () => {
    const lines: UnknownLine[] = [
      ...byHand,
      ...Array.from({ length: 25 }, (_, at) => auto(at + 1, at < 5 ? 4 : 2)),
    ];
    const { markdown, pictures } = unknownPage({ info, lines }, '2026-01-01-unknown');
    expect(markdown).toContain('The last 20 of the first 20: 0.875 of the oracle');
    expect(markdown).toContain('(pictures/2026-01-01-unknown-regret.svg)');
    expect([...pictures.keys()]).toEqual(['2026-01-01-unknown-regret.svg', '2026-01-01-unknown-score.svg']);
  });
});

test('the command refuses with every mistake at once', () => {
  expect(() => readCommandLine(['unknown', 'fast', '--ways', 'many', '--measurements', '0'])).toThrow(
    /'fast' means nothing here; --ways many must be .*; --measurements 0 must be/,
  );
  expect(readCommandLine(['unknown', '--quick'])).toMatchObject({
    kind: 'unknown',
    plan: { ways: 4, measurements: 2 },
  });
});
