import {
  asLonghaulError,
  type Directory,
  isFileSize,
  type LinkReport,
  type LonghaulError,
  type SizeReport,
} from '@longhaul/shared';
import type { MasterClient } from './master-client.ts';

/** Unknown keys in tickets make a depot ask its master again, at most this often; unknown depots likewise. */
const REFETCH_INTERVAL_MS = 30_000;
/** Measurements kept between two heartbeats; the newest win. */
const MAX_REPORTS = 1000;

interface MembershipComponents {
  readonly client: MasterClient;
  readonly self: () => { host: string; port: number; tls: boolean };
  readonly heartbeatMs: number;
  readonly activeTransfers: () => number;
  /** What the connections to other depots told since the last call. */
  readonly takeLinkReports: () => readonly LinkReport[];
  readonly onDirectory: (directory: Directory) => Promise<void>;
  readonly onFailure: (failure: LonghaulError) => void;
  readonly nowMs: () => number;
}

/** Keeps a depot registered with its master, and its knowledge of the overlay fresh. */
export class Membership {
  readonly #components: MembershipComponents;
  readonly #links = new Map<string, LinkReport>();
  readonly #sizes = new Map<string, SizeReport>();
  #timer: NodeJS.Timeout | undefined;
  #registered = false;
  #draining = false;
  readonly #lastRefetchMs = { key: Number.NEGATIVE_INFINITY, depot: Number.NEGATIVE_INFINITY };
  #running: Promise<void> | undefined;

  constructor(components: MembershipComponents) {
    this.#components = components;
  }

  /** Registers, then beats until `stop`. A master that cannot be reached is an event, not an error: it is asked again. */
  async start(): Promise<void> {
    await this.beat();
    this.#timer = setInterval(() => void this.beat(), this.#components.heartbeatMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Tells the master that this depot takes nothing new. */
  async drain(): Promise<void> {
    this.#draining = true;
    // An exchange that runs now may have been put together before.
    await this.#running;
    if (this.#registered) await this.beat();
  }

  /** One exchange with the master, now; never rejects. Calls that overlap share one exchange. */
  beat(): Promise<void> {
    this.#running ??= this.#exchange().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /**
   * Asks the master again because a ticket's key, or a depot in a verified ticket, is unknown; does nothing if it did
   * so lately. Keys have an allowance of their own: anybody can invent one.
   */
  async refetch(unknown: 'key' | 'depot'): Promise<void> {
    const now = this.#components.nowMs();
    if (now - this.#lastRefetchMs[unknown] < REFETCH_INTERVAL_MS) return this.#running;
    this.#lastRefetchMs[unknown] = now;
    await this.beat();
  }

  /** Notes the round-trip time of a new connection to another depot; the smallest of an interval is reported. */
  noteRtt(depot: string, rttMs: number): void {
    this.#noteLink({ to: depot, rttMs });
  }

  #noteLink(report: LinkReport): void {
    const known = this.#links.get(report.to);
    const rttMs = Math.min(report.rttMs, known?.rttMs ?? report.rttMs);
    keep(this.#links, report.to, { ...known, ...report, rttMs });
  }

  /** Notes the size of the file behind a URL hash, if it is one. */
  noteSize(urlHash: string, sizeBytes: number): void {
    if (isFileSize(sizeBytes)) keep(this.#sizes, urlHash, { urlHash, sizeBytes });
  }

  #forget(links: readonly LinkReport[], sizes: readonly SizeReport[]): void {
    for (const { to } of links) this.#links.delete(to);
    for (const { urlHash } of sizes) this.#sizes.delete(urlHash);
  }

  async #exchange(): Promise<void> {
    const { client, onDirectory, onFailure } = this.#components;
    try {
      if (!this.#registered) await onDirectory(await client.register(this.#components.self()));
      this.#registered = true;
      for (const report of this.#components.takeLinkReports()) this.#noteLink(report);
      const links = [...this.#links.values()];
      const sizes = [...this.#sizes.values()];
      const activeTransfers = this.#components.activeTransfers();
      await onDirectory(await client.heartbeat({ activeTransfers, draining: this.#draining, links, sizes }));
      this.#forget(links, sizes);
    } catch (thrown) {
      const failure = asLonghaulError(thrown, 'master-bad-answer');
      // A report that the master does not take must not keep this depot from being heard.
      if (failure.code === 'bad-request') this.#forget([...this.#links.values()], [...this.#sizes.values()]);
      // A master that lost its registry gets this depot's registration again, at the next beat.
      if (failure.code === 'depot-unknown' || failure.code === 'depot-signature-wrong')
        this.#registered = false;
      onFailure(failure);
    }
  }
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
