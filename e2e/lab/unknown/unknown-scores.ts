import { type MedianTime, medianTime } from '../results/median-time.ts';
import { mean, median } from '../results/statistics.ts';
import type { AutoLine, OracleLine, UnknownLine } from './unknown-line.ts';

/** A download that the master planned, beside what was measured of its pair in this state. */
export interface Scored {
  readonly line: AutoLine;
  /** The least median of all ways, and that way; NaN where no way has one because its downloads failed or were cut. */
  readonly oracleSeconds: number;
  readonly oracleWay: Pick<OracleLine, 'chain' | 'lanes'>;
  readonly directSeconds: number;
  /** Whether it takes longer than that directly. */
  readonly isDirectBound: boolean;
  /** Whether it is the first one of its pair. */
  readonly isFirst: boolean;
}

/** So many downloads that were planned over a way tell how long it takes, beside what was measured of it by hand. */
const TELLING = 3;
/** Downloads that are looked at together: the last twenty. */
export const LAST = 20;
/** A change is followed when so many downloads in a row have this score in the median. */
const FOLLOWED = { downloads: 3, score: 0.9 } as const;

/**
 * The downloads of the last overlay in their order; a download that failed takes for ever, and one that was
 * cut longer than until then. A way counts with the median of planned downloads, too, where that is less:
 * what was measured by hand may be of another hour, and of an older version.
 */
export function scoredDownloads(lines: readonly UnknownLine[]): Scored[] {
  const oracle = lines.flatMap((line) => (line.kind === 'oracle' ? [line] : []));
  const auto = lines.flatMap((line) => (line.kind === 'auto' ? [line] : []));
  const last = Math.max(0, ...auto.map(({ attempt }) => attempt));
  const met = new Set<string>();
  const planned = auto.filter(({ attempt }) => attempt === last);
  return planned.map((line) => {
    const isSame = ({ client, origin, state }: UnknownLine) =>
      client === line.client && origin === line.origin && state === line.state;
    const byHand = waysOf(oracle.filter(isSame));
    const taken = waysOf(planned.filter(isSame)).filter(({ downloads }) => downloads >= TELLING);
    const isKnown = byHand.some(({ time }) => isWhole(time));
    const best = (isKnown ? [...byHand, ...taken] : [])
      .filter(({ time }) => isWhole(time))
      .toSorted((one, other) => one.time.seconds - other.time.seconds)[0];
    const direct = byHand.find(({ way }) => way.chain.length === 0);
    const pair = `${line.client} ${line.origin}`;
    const isFirst = !met.has(pair);
    met.add(pair);
    return {
      line,
      oracleSeconds: best?.time.seconds ?? Number.NaN,
      oracleWay: best?.way ?? { chain: [], lanes: 1 },
      directSeconds: direct?.time.seconds ?? Number.NaN,
      isDirectBound: direct?.time.isBound ?? false,
      isFirst,
    };
  });
}

/** The ways that downloads of a pair went, how many over each, and how long they took. */
function waysOf<Line extends UnknownLine>(lines: readonly Line[]) {
  const byWay = Map.groupBy(lines, ({ chain, lanes }) => [...chain, lanes].join('>'));
  return [...byWay.values()].flatMap((downloads) => {
    const [way] = downloads;
    return way ? [{ way, downloads: downloads.length, time: timeOf(downloads) }] : [];
  });
}

/** Whether there is something to hold it against. */
export function hasOracle({ oracleSeconds }: Scored): boolean {
  return Number.isFinite(oracleSeconds);
}

/**
 * The oracle's time over the download's: 1 is as good, 0 failed; of one that was cut the most that it can be.
 * NaN without an oracle.
 */
export function scoreOf({ line, oracleSeconds }: Scored): number {
  return oracleSeconds / secondsOf(line);
}

/**
 * How much longer than the oracle's it took, as a share; infinite when it failed; of one that was cut the
 * least that it can be. NaN without an oracle.
 */
export function regretOf(scored: Scored): number {
  return 1 / scoreOf(scored) - 1;
}

/** The score of who always goes directly; the most that it can be where that was cut. */
export function directScoreOf({ oracleSeconds, directSeconds }: Scored): number {
  return oracleSeconds / directSeconds;
}

/** What became of a change: which spell began, and after how many downloads and seconds plans were good again. */
export interface Following {
  readonly state: string;
  readonly firstNumber: number;
  /** Left out where that did not happen within the spell. */
  readonly after?: { readonly downloads: number; readonly seconds: number };
}

/** For each spell but the first, when its change was followed; who has no oracle tells nothing of that. */
export function followings(scored: readonly Scored[]): Following[] {
  const spells = [...Map.groupBy(scored, ({ line }) => line.spell).values()].slice(1);
  return spells.flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const judged = own.filter(hasOracle);
    const good = judged.find((_, at) => {
      const next = judged.slice(at, at + FOLLOWED.downloads);
      return next.length === FOLLOWED.downloads && median(next.map(scoreOf)) >= FOLLOWED.score;
    });
    const { state, number, atSeconds } = first.line;
    const after = good && {
      downloads: good.line.number - number,
      seconds: good.line.atSeconds - atSeconds,
    };
    return [{ state, firstNumber: number, ...(after ? { after } : {}) }];
  });
}

/**
 * Of each first download of a pair, the direct time over its own; left out where direct failed, and where
 * both were cut.
 */
export function firstsAgainstDirect(scored: readonly Scored[]): number[] {
  return scored
    .filter(({ isFirst, directSeconds }) => isFirst && Number.isFinite(directSeconds))
    .filter(({ line, isDirectBound }) => !(line.cut && isDirectBound))
    .map(({ line, directSeconds }) => directSeconds / secondsOf(line));
}

/** Groups of so many in a row, the last one perhaps shorter. */
export function inGroups<T>(all: readonly T[], size: number): T[][] {
  const groups: T[][] = [];
  for (let at = 0; at < all.length; at += size) groups.push(all.slice(at, at + size));
  return groups;
}

/**
 * Mean of |ln(measured / predicted)| of downloads that did not fail, where a plan is known: of one that was
 * cut at least so much, and nothing where more was predicted.
 */
export function predictionError(scored: readonly Scored[]): number {
  const errors = scored.flatMap(({ line: { plan, seconds, isRight, cut } }) => {
    if (!plan || !isRight || (cut && plan.predictedSeconds > seconds)) return [];
    return [Math.abs(Math.log(seconds / plan.predictedSeconds))];
  });
  return mean(errors);
}

function isWhole({ seconds, isBound }: MedianTime): boolean {
  return !isBound && Number.isFinite(seconds);
}

/** A way that failed takes longer than one that was cut. */
function timeOf(measured: readonly UnknownLine[]): MedianTime {
  return medianTime(
    measured.map((line) => ({
      seconds: secondsOf(line),
      ...(line.cut || !line.isRight ? { cut: true as const } : {}),
    })),
  );
}

function secondsOf({ seconds, isRight }: Pick<AutoLine, 'seconds' | 'isRight'>): number {
  return isRight ? seconds : Number.POSITIVE_INFINITY;
}
