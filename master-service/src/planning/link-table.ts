import type { LinkReport } from '@longhaul/shared';
import type { LinkConfig } from '../config.ts';
import type { LinkEstimate, LinkView } from './link-view.ts';

/** A report older than this says nothing about the link any more; then the configuration counts again. */
export const REPORT_LIFE_MS = 600_000;

/** One figure with the time of the report that had it. */
interface Dated {
  readonly value: number;
  readonly atMs: number;
}

/** The newest figures of a link; not every report has all three. */
interface Measured {
  readonly rttMs: Dated;
  readonly lossRate: Dated | undefined;
  readonly goodputBps: Dated | undefined;
}

/** The links the planner knows: configured ones, and what depots reported, which counts first unless `fixed`. */
export class LinkTable implements LinkView {
  readonly #configured = new Map<string, LinkConfig>();
  readonly #measured = new Map<string, Measured>();
  readonly #windowBytes: number;
  readonly #listeners: ((one: string, other: string, nowMs: number) => void)[] = [];

  constructor(links: readonly LinkConfig[], windowBytes: number) {
    for (const link of links) this.#configured.set(pairKey(...link.between), link);
    this.#windowBytes = windowBytes;
  }

  /**
   * Takes in what the depot `from` measured. The newest report of either end counts; loss and goodput, which only the end
   * that sends can tell, outlive newer reports without them, each for its own time.
   */
  report(from: string, { to, rttMs, lossRate, goodputBps }: LinkReport, nowMs: number): void {
    const key = pairKey(from, to);
    const known = this.#measured.get(key);
    const dated = (value: number | undefined) => (value === undefined ? undefined : { value, atMs: nowMs });
    this.#measured.set(key, {
      rttMs: { value: rttMs, atMs: nowMs },
      lossRate: dated(lossRate) ?? known?.lossRate,
      goodputBps: dated(goodputBps) ?? known?.goodputBps,
    });
    for (const listener of this.#listeners) listener(from, to, nowMs);
  }

  *pairs(): Iterable<readonly [string, string]> {
    for (const key of new Set([...this.#configured.keys(), ...this.#measured.keys()])) {
      const [one = '', other = ''] = key.split(' ');
      yield [one, other];
    }
  }

  onChange(listener: (one: string, other: string, nowMs: number) => void): void {
    this.#listeners.push(listener);
  }

  /** The estimate of the link between `one` and `other`; `undefined` when RTT or rate are unknown. */
  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined {
    const key = pairKey(one, other);
    const link = this.#configured.get(key);
    const measured = this.#measured.get(key);
    if (measured && !isFresh(measured.rttMs, nowMs)) this.#measured.delete(key);
    else if (measured && !link?.fixed) return this.#estimateFrom(measured, link, nowMs);
    return link && this.#asConfigured(link);
  }

  #estimateFrom(measured: Measured, link: LinkConfig | undefined, nowMs: number): LinkEstimate | undefined {
    const fresh = (figure: Dated | undefined) => (figure && isFresh(figure, nowMs) ? figure : undefined);
    const [lossRate, goodputBps] = [fresh(measured.lossRate), fresh(measured.goodputBps)];
    const rateBps = Math.max(link?.rateBps ?? 0, goodputBps?.value ?? 0);
    if (rateBps === 0) return undefined;
    const dates = [measured.rttMs, lossRate, goodputBps].flatMap((figure) => (figure ? [figure.atMs] : []));
    return {
      rttMs: measured.rttMs.value,
      lossRate: lossRate?.value ?? link?.lossRate ?? 0,
      rateBps,
      windowBytes: link?.windowBytes ?? this.#windowBytes,
      goodputBps: goodputBps?.value,
      ageMs: Math.max(0, nowMs - Math.min(...dates)),
    };
  }

  #asConfigured({ rttMs, lossRate, rateBps, windowBytes }: LinkConfig): LinkEstimate {
    const window = windowBytes ?? this.#windowBytes;
    return { rttMs, lossRate, rateBps, windowBytes: window, goodputBps: undefined, ageMs: undefined };
  }
}

function isFresh({ atMs }: Dated, nowMs: number): boolean {
  return nowMs - atMs <= REPORT_LIFE_MS;
}

function pairKey(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
