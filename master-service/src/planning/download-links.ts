import { CLIENT, ORIGIN } from '../config.ts';
import type { LegDoubt } from './leg-scenarios.ts';
import type { LinkTable } from './link-table.ts';
import type { LinkEstimate, LinkView, PairKnowledge } from './link-view.ts';

/** A depot is beside an end of a pair when its short leg has no larger share of both. */
const BESIDE_SHARE = 0.25;

/** What is known of one depot's leg to an end. */
export interface EndLeg {
  readonly link: LinkEstimate;
  readonly doubt: LegDoubt;
  /** Between what the round trip must lie; left out where it is another end's, or everybody's. */
  readonly bounds?: { readonly leastMs: number; readonly mostMs: number };
}

/** By depot. */
export type EndLegs = Map<string, EndLeg>;

/** The links of one download: those between depots are everybody's. */
export class DownloadLinks implements LinkView {
  readonly pair: PairKnowledge;
  readonly takesRanges?: boolean;
  readonly #links: LinkTable;
  readonly #client: EndLegs;
  readonly #origin: EndLegs;

  constructor(
    links: LinkTable,
    client: EndLegs,
    origin: EndLegs,
    pair: PairKnowledge,
    takesRanges: boolean | undefined,
  ) {
    this.#links = links;
    this.#client = client;
    this.#origin = origin;
    this.pair = pair;
    if (takesRanges !== undefined) this.takesRanges = takesRanges;
  }

  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined {
    const legs = this.#legsOf(one, other);
    if (legs) return legs.link;
    if (one !== CLIENT && other !== ORIGIN) return this.#links.estimate(one, other, nowMs);
    return one === CLIENT && other === ORIGIN ? this.#direct(nowMs) : undefined;
  }

  doubt(one: string, other: string, nowMs: number): LegDoubt {
    return this.#legsOf(one, other)?.doubt ?? this.#links.doubt(one, other, nowMs);
  }

  linkedWith(end: typeof CLIENT | typeof ORIGIN): ReadonlySet<string> {
    return new Set((end === CLIENT ? this.#client : this.#origin).keys());
  }

  pairs(): Iterable<readonly [one: string, other: string]> {
    return this.#links.pairs();
  }

  onChange(listener: Parameters<LinkView['onChange']>[0]): void {
    this.#links.onChange(listener);
  }

  /** What is typed in for everybody, as far as the triangles of these two ends allow. */
  #direct(nowMs: number): LinkEstimate | undefined {
    const typed = this.#links.estimate(CLIENT, ORIGIN, nowMs);
    const { rttBounds, sender } = this.pair;
    if (!typed) return undefined;
    const known = sender ? { ...typed, sender } : typed;
    if (!rttBounds || this.#links.isFixed(CLIENT, ORIGIN)) return known;
    return { ...known, rttMs: Math.min(Math.max(typed.rttMs, rttBounds.leastMs), rttBounds.mostMs) };
  }

  #legsOf(one: string, other: string): EndLeg | undefined {
    if (one === CLIENT && other !== ORIGIN) return this.#client.get(other);
    return other === ORIGIN ? this.#origin.get(one) : undefined;
  }
}

/** The depot that has measured both ends and lies beside one of them: its long leg is nearly the way of the pair itself. */
export function besideOf(client: EndLegs, origin: EndLegs): PairKnowledge['via'] {
  let [best, least] = [undefined as string | undefined, Number.POSITIVE_INFINITY];
  for (const [depot, toClient] of client) {
    const toOrigin = origin.get(depot);
    if (!isMeasured(toClient) || !toOrigin || !isMeasured(toOrigin)) continue;
    const [one, other] = [toClient.link.rttMs, toOrigin.link.rttMs];
    const short = Math.min(one, other);
    if (short >= least || short > BESIDE_SHARE * (one + other)) continue;
    [best, least] = [depot, short];
  }
  return best;
}

function isMeasured({ link: { source, ageMs } }: EndLeg): boolean {
  return source === undefined && ageMs !== undefined;
}

/** Between what the round trip of a pair must lie, by every depot that both ends are known to. */
export function boundsOf(client: EndLegs, origin: EndLegs): PairKnowledge['rttBounds'] {
  let [leastMs, mostMs] = [0, Number.POSITIVE_INFINITY];
  for (const [depot, { bounds: toClient }] of client) {
    const toOrigin = origin.get(depot)?.bounds;
    if (!toClient || !toOrigin) continue;
    mostMs = Math.min(mostMs, toClient.mostMs + toOrigin.mostMs);
    leastMs = Math.max(leastMs, toClient.leastMs - toOrigin.mostMs, toOrigin.leastMs - toClient.mostMs);
  }
  return mostMs === Number.POSITIVE_INFINITY ? undefined : { leastMs: Math.min(leastMs, mostMs), mostMs };
}
