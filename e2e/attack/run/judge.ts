import { formatBytes } from '@longhaul/shared';
import { median, quantile } from '../../lab/results/statistics.ts';
import type { Attack } from '../attack.ts';
import type { Witness } from '../bystander/bystander.ts';
import type { Service } from '../watch/service-look.ts';
import { BOUNDS } from './bounds.ts';
import type { Observation, ServiceWatch } from './observation.ts';

/** How much longer downloads took. */
export interface Share {
  readonly median: number;
  readonly p95: number;
  readonly downloads: number;
}

export interface Verdict {
  /** Promises that did not hold, a sentence each. */
  readonly failures: readonly string[];
  /** What the attack has not got done: a busy machine may be to blame, and it proves nothing. */
  readonly undone: readonly string[];
  /** Promises that did not hold, where the only fault is a time: a busy machine may be to blame. */
  readonly late: readonly string[];
  /** Depots that were not heard of in time, and the master that did not answer in time. */
  readonly down: readonly string[];
  readonly bystander: Share;
  readonly neighbour: Share;
}

/** Holds what was seen around a strike against what holds for everybody. */
export function judge(attack: Attack, seen: Observation): Verdict {
  const bystander = shareOf(seen.struck, seen.calm);
  return {
    failures: [
      ...judgeAttacker(seen),
      ...judgeDownloads(seen.struck),
      ...Object.entries(seen.services).flatMap(([service, watch]) =>
        judgeService(service as Service, watch, seen.seconds),
      ),
      ...[...new Set(seen.visits.map(({ place, from, said }) => `${place} by ${from} (${said})`))].map(
        (visit) => `reached what no plan names: ${visit}`,
      ),
      ...seen.strangers.map((url) => `the origin was asked for what no ticket names: ${url.slice(0, 200)}`),
    ],
    undone: [...(seen.attacker.cases === 0 ? ['the attack did nothing'] : []), ...judgeCodes(attack, seen)],
    late: judgeTimes(bystander),
    down: Object.entries(seen.down).map(([who, looks]) => `${who} at ${looks} looks`),
    bystander,
    neighbour: shareOf(seen.neighbourStruck, seen.neighbourCalm),
  };
}

/** Each time by the median of the same way's calm times, so that slower ways are compared with themselves. */
export function shareOf(struck: readonly Witness[], calm: readonly Witness[]): Share {
  const usual = new Map(
    [...Map.groupBy(calm.filter(isWhole), ({ way }) => way)].map(([way, downloads]) => [
      way,
      median(downloads.map(({ seconds }) => seconds)),
    ]),
  );
  const shares = struck.filter(isWhole).flatMap(({ way, seconds }) => {
    const usualSeconds = usual.get(way);
    return usualSeconds === undefined ? [] : [seconds / usualSeconds];
  });
  const round = (value: number) => (Number.isNaN(value) ? 0 : Number(value.toFixed(2)));
  return { median: round(median(shares)), p95: round(quantile(shares, 0.95)), downloads: struck.length };
}

function isWhole({ outcome }: Witness): boolean {
  return outcome === 'whole';
}

function judgeAttacker({ attacker: { broken, failure } }: Observation): string[] {
  return [
    ...broken.map(({ promise, replay }) => `${promise}: ${replay}`),
    ...(failure === undefined ? [] : [`the attack itself failed: ${failure}`]),
  ];
}

function judgeDownloads(struck: readonly Witness[]): string[] {
  const failed = struck.filter((download) => !isWhole(download));
  const kinds = Map.groupBy(failed, ({ outcome, why, way }) => `${outcome}${why ? ` (${why})` : ''}, ${way}`);
  const sentences = [...kinds].map(
    ([kind, downloads]) => `bystander: ${downloads.length} of ${struck.length} downloads ${kind}`,
  );
  return struck.length === 0 ? ['bystander: no download was tried'] : sentences;
}

function judgeService(service: Service, watch: ServiceWatch, seconds: number): string[] {
  const { before, peak, after, heldBytes, activeGrowth, leaks, logLines, served } = watch;
  const { logLinesAtOnce, logLinesPerSecond, logLinesPerTransfer } = BOUNDS;
  const most = logLinesAtOnce + logLinesPerSecond * seconds + logLinesPerTransfer * served;
  const growth = (
    what: string,
    now: number,
    then: number,
    bound: number,
    say: (value: number) => string = String,
  ) => (now - then > bound ? [`${service}: ${what} ${say(then)} before, ${say(now)} afterwards`] : []);
  const peaks = (what: string, value: number, bound: number) =>
    value > bound ? [`${service}: ${what} up to ${formatBytes(value)}, bound ${formatBytes(bound)}`] : [];
  return [
    ...(watch.hasDied ? [`${service}: its process ended`] : []),
    ...peaks('memory', peak.rssBytes, BOUNDS.peakRssBytes),
    ...peaks('memory of connections', peak.socketBytes, BOUNDS.peakSocketBytes),
    ...growth(
      'memory held',
      heldBytes.after ?? 0,
      heldBytes.before ?? 0,
      BOUNDS.heldGrowthBytes,
      formatBytes,
    ),
    ...growth(
      'memory of connections',
      after.socketBytes,
      before.socketBytes,
      BOUNDS.socketGrowthBytes,
      formatBytes,
    ),
    ...growth('descriptors', after.descriptors, before.descriptors, BOUNDS.descriptorGrowth),
    ...(!watch.hasDied && (activeGrowth === undefined || heldBytes.after === undefined)
      ? [`${service}: does not say what it holds`]
      : []),
    ...((activeGrowth ?? 0) > BOUNDS.activeGrowth
      ? [`${service}: ${activeGrowth} transfers more than before`]
      : []),
    ...(logLines > most
      ? [`${service}: ${logLines} log lines in ${seconds.toFixed(0)} s, bound ${most.toFixed(0)}`]
      : []),
    ...leaks.slice(0, 3).map((line) => `${service}: its log holds a ticket, path or query: ${line}`),
  ];
}

function judgeCodes({ meets }: Attack, { services }: Observation): string[] {
  if (!meets) return [];
  const counted = Object.values(services).flatMap(({ refusals }) => Object.keys(refusals));
  return meets.some((code) => counted.includes(code))
    ? []
    : [
        `no bound was met: none of ${meets.join(', ')} in the counters, but ${[...new Set(counted)].join(', ') || 'nothing'}`,
      ];
}

function judgeTimes({ median: middle, p95, downloads }: Share): string[] {
  if (downloads === 0) return [];
  return [
    ...(middle > BOUNDS.bystanderMedian ? [`bystander: ${middle} times as long in the median`] : []),
    ...(p95 > BOUNDS.bystanderP95 ? [`bystander: ${p95} times as long at p95`] : []),
  ];
}
