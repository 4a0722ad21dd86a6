import { isFileSize, type LinkReport, type SizeReport } from '@longhaul/shared';

/** Measurements of each kind kept between two heartbeats; the newest win. */
const MAX_REPORTS = 1000;

/** What a heartbeat has to report. */
export interface Reports {
  readonly links: LinkReport[];
  readonly sizes: SizeReport[];
}

/** What this depot has measured since its master took the last report. */
export class Measurements {
  readonly #links = new Map<string, LinkReport>();
  readonly #sizes = new Map<string, SizeReport>();

  /** Notes what a link did; the smallest round trip of an interval counts. */
  noteLink(report: LinkReport): void {
    const known = this.#links.get(report.to);
    const rttMs = Math.min(report.rttMs, known?.rttMs ?? report.rttMs);
    keep(this.#links, report.to, { ...known, ...report, ...sentTogether(known, report), rttMs });
  }

  /** Notes the size of the file behind a URL hash, if it is one, and whether no part of it can be asked for. */
  noteSize(urlHash: string, sizeBytes: number, isWholeOnly = false): void {
    const report = { urlHash, sizeBytes, ...(isWholeOnly ? { isWholeOnly } : {}) };
    if (isFileSize(sizeBytes)) keep(this.#sizes, urlHash, report);
  }

  /** Everything that has not been taken yet. */
  all(): Reports {
    return { links: [...this.#links.values()], sizes: [...this.#sizes.values()] };
  }

  forget({ links, sizes }: Reports): void {
    for (const { to } of links) this.#links.delete(to);
    for (const { urlHash } of sizes) this.#sizes.delete(urlHash);
  }
}

/** What both say was sent, which nobody has been told yet. */
function sentTogether(known: LinkReport | undefined, report: LinkReport): Partial<LinkReport> {
  if (known?.sentBytes === undefined || report.sentBytes === undefined) return {};
  return {
    sentBytes: known.sentBytes + report.sentBytes,
    retransmittedBytes: (known.retransmittedBytes ?? 0) + (report.retransmittedBytes ?? 0),
  };
}

/** Keeps a report as the newest; the oldest makes room. */
function keep<Report>(reports: Map<string, Report>, key: string, report: Report): void {
  reports.delete(key);
  reports.set(key, report);
  for (const oldest of reports.keys()) {
    if (reports.size <= MAX_REPORTS) return;
    reports.delete(oldest);
  }
}
