import {
  type ClientReport,
  domainOf,
  isFileSize,
  type JobReport,
  joinJobReports,
  type LinkReport,
  MAX_JOB_REPORTS,
  type OriginReport,
  type SizeReport,
} from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import { fitReports } from './fit-reports.ts';

/**
 * Measurements of each kind kept between two heartbeats; the newest win, those of origins and files within
 * their domain's share.
 */
const MAX_REPORTS = 1000;

/** A link is full no more that carries more than was told of it then, by so much. */
const FULL_SHARE = 0.9;

/** What a heartbeat has to report. */
interface Reports {
  readonly links: LinkReport[];
  /** Left out where there are none: a master of before knows none. */
  readonly clients?: ClientReport[];
  /** Left out where there are none. */
  readonly origins?: OriginReport[];
  readonly sizes: SizeReport[];
  /** Left out where none has ended. */
  readonly jobs?: JobReport[];
}

/** What is told until it is answered, and counts once, however often it is told. */
export interface Batch extends Reports {
  /** Counts those of this process, from 1 on; left out where there is nothing to report. */
  readonly batch?: number;
}

/** What this depot has measured, and no master has answered yet. */
export class Measurements {
  readonly #links = new Map<string, LinkReport>();
  readonly #clients = new Map<string, ClientReport>();
  readonly #origins = new FairMap<OriginReport>(MAX_REPORTS);
  readonly #sizes = new FairMap<SizeReport>(MAX_REPORTS);
  readonly #jobs = new Map<string, JobReport>();
  #batches = 0;
  /** What was told and is not answered. A master may have taken it, so nothing is added to it. */
  #told: Batch | undefined;

  /** Notes what a link did; the smallest round trip of an interval counts. */
  noteLink(report: LinkReport): void {
    const known = this.#links.get(report.to);
    const rttMs = Math.min(report.rttMs, known?.rttMs ?? report.rttMs);
    const merged = { ...known, ...report, ...sentTogether(known, report), rttMs };
    const { fullBps, ...others } = merged;
    // What carries more since then is full no more.
    const isStillFull = report.fullBps !== undefined || (fullBps ?? 0) >= FULL_SHARE * mostBpsOf(report);
    keep(this.#links, report.to, isStillFull ? merged : others);
  }

  /** Notes what the ways to clients of one network did. */
  noteClient(report: ClientReport): void {
    const known = this.#clients.get(report.prefix);
    const rttMs = Math.min(report.rttMs, known?.rttMs ?? report.rttMs);
    const windows = largestOf(known, report);
    const waits = [known?.queueMs, report.queueMs].filter((queueMs) => queueMs !== undefined);
    keep(this.#clients, report.prefix, {
      ...known,
      ...report,
      ...windows,
      ...(waits.length > 0 ? { queueMs: Math.min(...waits) } : {}),
      ...sentTogether(known, report),
      rttMs,
    });
  }

  /** Notes what an origin showed, as far as something is said: the rest stays as it was. */
  noteOrigin(report: OriginReport): void {
    const known = this.#origins.get(report.host);
    const [before, now] = [known?.rttMs, report.rttMs];
    const rttMs = before === undefined ? now : Math.min(before, now ?? before);
    const received =
      known?.receivedBytes === undefined || report.receivedBytes === undefined
        ? {}
        : {
            receivedBytes: known.receivedBytes + report.receivedBytes,
            lostBytes: (known.lostBytes ?? 0) + (report.lostBytes ?? 0),
          };
    const merged = { ...known, ...report, ...received, ...(rttMs === undefined ? {} : { rttMs }) };
    this.#origins.set(report.host, merged, domainOf(report.host));
  }

  /**
   * Notes the size of the file behind a URL hash, at `host`, if it is one, and whether no part of it can be
   * asked for.
   */
  noteSize(urlHash: string, host: string, sizeBytes: number, isWholeOnly = false): void {
    const report = { urlHash, sizeBytes, ...(isWholeOnly ? { isWholeOnly } : {}) };
    if (isFileSize(sizeBytes)) this.#sizes.set(urlHash, report, domainOf(host));
  }

  /** Notes what has ended of a job. */
  noteJob(report: JobReport): void {
    const known = this.#jobs.get(report.jobId);
    keep(this.#jobs, report.jobId, known ? joinJobReports(known, report) : report, MAX_JOB_REPORTS);
  }

  /** Whether something was told that nobody has answered. */
  get isUnanswered(): boolean {
    return this.#told !== undefined;
  }

  /**
   * What to tell: what was told before, as it was, until that is answered; then what has come since, as much
   * as fits a heartbeat.
   */
  batch(): Batch {
    if (this.#told) return this.#told;
    const reports = this.#take();
    if (Object.values(reports).every((some: object[]) => some.length === 0)) return reports;
    this.#batches += 1;
    this.#told = { batch: this.#batches, ...reports };
    return this.#told;
  }

  /** Takes note that a master has answered what it was told: that is told no more. */
  noteAnswered(): void {
    this.#told = undefined;
  }

  /** Takes out what fits a heartbeat, of each kind the newest; the rest waits for the next one. */
  #take(): Reports {
    // Plans need links first. What has ended of jobs is told nowhere else.
    const begins = fitReports(
      [this.#links, this.#jobs, this.#clients, this.#origins, this.#sizes].map((reports) =>
        Array.from<[string, object], object>(reports, ([, report]) => report),
      ),
    );
    const take = <Report>(reports: Noted<Report>, index: number) =>
      [...reports].slice(begins[index]).map(([key, report]) => {
        reports.delete(key);
        return report;
      });
    const links = take(this.#links, 0);
    const jobs = take(this.#jobs, 1);
    const clients = take(this.#clients, 2);
    const origins = take(this.#origins, 3);
    const sizes = take(this.#sizes, 4);
    return {
      links,
      ...(clients.length > 0 ? { clients } : {}),
      ...(origins.length > 0 ? { origins } : {}),
      sizes,
      ...(jobs.length > 0 ? { jobs } : {}),
    };
  }
}

/** Reports by what they are about. */
interface Noted<Report> extends Iterable<[string, Report]> {
  delete(key: string): unknown;
}

interface Sent {
  readonly sentBytes?: number | undefined;
  readonly retransmittedBytes?: number | undefined;
}

/** What both say was sent, which nobody has been told yet. */
function sentTogether(known: Sent | undefined, report: Sent): Sent {
  if (known?.sentBytes === undefined || report.sentBytes === undefined) return {};
  return {
    sentBytes: known.sentBytes + report.sentBytes,
    retransmittedBytes: (known.retransmittedBytes ?? 0) + (report.retransmittedBytes ?? 0),
  };
}

/** The larger of each of two figures of clients' windows. */
function largestOf(known: ClientReport | undefined, report: ClientReport): Partial<ClientReport> {
  const figures = ['windowBytes', 'leastWindowBytes', 'mostWindowBytes'] as const;
  return Object.fromEntries(
    figures.flatMap((figure) => {
      const bytes = Math.max(known?.[figure] ?? 0, report[figure] ?? 0);
      return bytes > 0 ? [[figure, bytes]] : [];
    }),
  );
}

/** Keeps a report as the newest; the oldest makes room. */
function keep<Report>(reports: Map<string, Report>, key: string, report: Report, most = MAX_REPORTS): void {
  reports.delete(key);
  reports.set(key, report);
  for (const oldest of reports.keys()) {
    if (reports.size <= most) return;
    reports.delete(oldest);
  }
}

/** The most that a report says of what a link carried. */
function mostBpsOf({ totalBps = 0, goodputBps = 0, leastGoodputBps = 0 }: LinkReport): number {
  return Math.max(totalBps, goodputBps, leastGoodputBps);
}
