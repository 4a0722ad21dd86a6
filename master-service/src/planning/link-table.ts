import type { LinkReport } from '@longhaul/shared';
import type { LinkConfig } from '../config.ts';

/** A report older than this says nothing about the link any more; then the configuration counts again. */
export const REPORT_LIFE_MS = 600_000;

/** What is known of the way between two ends, in either direction. */
export interface LinkEstimate {
  readonly rttMs: number;
  readonly lossRate: number;
  /** Capacity of the narrowest place, bits per second; the measured goodput where no capacity is configured. */
  readonly rateBps: number;
  readonly windowBytes: number;
  /** TCP goodput that the depots measured with their own settings. */
  readonly goodputBps: number | undefined;
  /** Age of the report behind it; `undefined` when all of it is configured. */
  readonly ageMs: number | undefined;
}

interface ReceivedReport {
  readonly report: LinkReport;
  readonly atMs: number;
  /** When loss and goodput were measured: not every report has them. */
  readonly measuredAtMs: number;
}

/** The links the planner knows: configured ones, and what depots reported, which counts first unless `fixed`. */
export class LinkTable {
  readonly #configured = new Map<string, LinkConfig>();
  readonly #reported = new Map<string, ReceivedReport>();
  readonly #windowBytes: number;

  constructor(links: readonly LinkConfig[], windowBytes: number) {
    for (const link of links) this.#configured.set(pairKey(...link.between), link);
    this.#windowBytes = windowBytes;
  }

  /**
   * Takes in what the depot `from` measured. The newest report of either end counts; loss and goodput, which only the end
   * that sends can tell, outlive newer reports without them.
   */
  report(from: string, report: LinkReport, nowMs: number): void {
    const key = pairKey(from, report.to);
    const known = this.#reported.get(key);
    const isMeasured = report.lossRate !== undefined || report.goodputBps !== undefined;
    const measuredAtMs = isMeasured || !known ? nowMs : known.measuredAtMs;
    const kept = known && nowMs - measuredAtMs <= REPORT_LIFE_MS ? known.report : undefined;
    const { lossRate = kept?.lossRate, goodputBps = kept?.goodputBps } = report;
    const merged: LinkReport = {
      to: report.to,
      rttMs: report.rttMs,
      ...(lossRate === undefined ? {} : { lossRate }),
      ...(goodputBps === undefined ? {} : { goodputBps }),
    };
    this.#reported.set(key, { report: merged, atMs: nowMs, measuredAtMs });
  }

  /** The estimate of the link between `one` and `other`; `undefined` when RTT or rate are unknown. */
  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined {
    const key = pairKey(one, other);
    const link = this.#configured.get(key);
    const received = this.#reported.get(key);
    if (received && nowMs - received.atMs > REPORT_LIFE_MS) this.#reported.delete(key);
    else if (received && !link?.fixed) return this.#measured(received, link, nowMs);
    return link && this.#asConfigured(link);
  }

  #measured(
    { report, atMs }: ReceivedReport,
    link: LinkConfig | undefined,
    nowMs: number,
  ): LinkEstimate | undefined {
    const { rttMs, goodputBps } = report;
    const rateBps = Math.max(link?.rateBps ?? 0, goodputBps ?? 0);
    if (rateBps === 0) return undefined;
    return {
      rttMs,
      lossRate: report.lossRate ?? link?.lossRate ?? 0,
      rateBps,
      windowBytes: link?.windowBytes ?? this.#windowBytes,
      goodputBps,
      ageMs: Math.max(0, nowMs - atMs),
    };
  }

  #asConfigured({ rttMs, lossRate, rateBps, windowBytes }: LinkConfig): LinkEstimate {
    const window = windowBytes ?? this.#windowBytes;
    return { rttMs, lossRate, rateBps, windowBytes: window, goodputBps: undefined, ageMs: undefined };
  }
}

function pairKey(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
