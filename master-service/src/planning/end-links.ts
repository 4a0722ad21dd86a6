import type { CongestionControl } from '@longhaul/shared';
import { clientPrefix } from '@longhaul/shared';
import { CLIENT, ORIGIN } from '../config.ts';
import type { LegDistribution } from '../estimates/leg-figures.ts';
import type { ClientTable } from '../measuring/client-table.ts';
import type { OriginFigures, OriginTable } from '../measuring/origin-table.ts';
import { besideOf, boundsOf, DownloadLinks, type EndLeg, type EndLegs } from './download-links.ts';
import { NO_DOUBT } from './leg-scenarios.ts';
import type { LinkTable } from './link-table.ts';
import type { DownloadEnds, LinkEstimate, LinkView } from './link-view.ts';

/** Depots whose legs to an end are planned with, the nearest first: further ones are hardly ever part of a best chain. */
const MOST_LEGS = 32;
/** A depot counts as beside an end up to here: so small is the detour over it to anywhere. */
const BESIDE_MS = 30;
/** Measured depots from which others' distances to an end are worked out: the nearest ones bound them best. */
const MOST_ANCHORS = 3;
/** From a depot to the clients or origins of its own site. */
const OWN_SITE = { rttMs: 5, spread: 0.7 } as const;
/** A round trip between bounds that are e apart is known by so much, and at worst as well as one between strangers. */
const BOUNDS_SPREAD = { perE: 0.3, most: 0.8 } as const;
/** What a server, or a line, carries where nothing is measured: a usual one, by a factor of two or so. */
const UNKNOWN_RATE = { bps: 100e6, spread: 0.5 } as const;

/**
 * A depot sends by BBR, which fills the queue on its way when it starts and when it tries for more: a part of what it loses is its own doing, which a
 * sender that holds back would not lose. The share of the logarithm, between hardly any loss and all that it saw, that is taken for the way's.
 */
const OF_THE_WAY = { leastLoss: 5e-6, share: 0.6, spread: 1.2 } as const;

/** The legs of other depots, for what triangles tell. */
type Around = (depot: string) => Iterable<readonly [id: string, rttMs: number]>;

/** What the depots are like that a download may pass. */
export interface Overlay {
  readonly around: Around;
  readonly isUsable: (depot: string) => boolean;
}

interface EndLinksInit {
  readonly links: LinkTable;
  readonly clients: ClientTable;
  readonly origins: OriginTable;
  /** What counts where nobody says how large windows are. */
  readonly windowBytes: number;
}

/**
 * Puts together what is known of the ends of one download. Of each depot's leg to an end counts, in this order: a link that is typed in as fixed,
 * what the depot measured of this end, what is typed in for everybody; where nothing is typed in, the site that the end is said to belong to, what depots
 * measured of its neighbours, and the triangles with depots that measured it. Of an end of which nothing at all is known legs are assumed only while the other
 * end is known.
 */
export class EndLinks {
  readonly #init: EndLinksInit;

  constructor(init: EndLinksInit) {
    this.#init = init;
  }

  /** How much is measured of two ends: another text when there is more. */
  stateOf({ client, origin }: DownloadEnds): string {
    const { clients, origins } = this.#init;
    const ofClient = client === undefined ? 0 : clients.known(clientPrefix(client)).size;
    return `${ofClient} ${origin === undefined ? 0 : origins.known(origin).size}`;
  }

  /** The links as they are for one download. */
  between(ends: DownloadEnds, { around, isUsable }: Overlay, nowMs: number): LinkView {
    const { origins } = this.#init;
    const prefix = ends.client === undefined ? undefined : clientPrefix(ends.client);
    const manners = ends.origin === undefined ? {} : origins.manners(ends.origin);
    const client = this.#clientLegs(prefix, ends.clientSite, around, nowMs);
    const origin = this.#originLegs(ends.origin, manners.sender, around, nowMs);
    if (client.size === 0)
      this.#guess(client, origin, isUsable, (depot) => this.#clientLeg(depot, prefix ?? '', nowMs));
    else if (origin.size === 0)
      this.#guess(origin, client, isUsable, (depot) =>
        this.#originLeg(depot, ends.origin ?? '', undefined, nowMs),
      );
    const rttBounds = boundsOf(client, origin);
    const heldBps = ends.origin === undefined ? undefined : this.#heldBps(ends.origin, nowMs);
    const pair = { rttBounds, heldBps, sender: manners.sender, via: besideOf(client, origin) };
    return new DownloadLinks(this.#init.links, client, origin, pair, manners.takesRanges);
  }

  #clientLegs(prefix: string | undefined, site: string | undefined, around: Around, nowMs: number): EndLegs {
    const { links, clients } = this.#init;
    const measured = prefix === undefined ? [] : [...clients.known(prefix).keys()];
    const near = prefix === undefined ? [] : clients.near(prefix);
    const legOf = (depot: string) => this.#clientLeg(depot, prefix ?? '', nowMs);
    const typedOf = (depot: string) => links.estimate(CLIENT, depot, nowMs);
    const isRttAlone = (depot: string) => tellsRttAlone(clients.known(prefix ?? '').get(depot)?.value);
    return this.#legs({ end: CLIENT, measured, near, site, legOf, typedOf, isRttAlone, around });
  }

  #originLegs(
    host: string | undefined,
    sender: CongestionControl | undefined,
    around: Around,
    nowMs: number,
  ): EndLegs {
    const { links, origins } = this.#init;
    const measured = host === undefined ? [] : [...origins.known(host).keys()];
    const near = host === undefined ? [] : origins.near(host);
    const legOf = (depot: string) => this.#originLeg(depot, host ?? '', sender, nowMs);
    const typedOf = (depot: string) => {
      const typed = links.estimate(depot, ORIGIN, nowMs);
      return typed && sender ? { ...typed, sender } : typed;
    };
    const isRttAlone = (depot: string) => tellsRttAlone(origins.known(host ?? '').get(depot)?.value);
    return this.#legs({ end: ORIGIN, measured, near, site: undefined, legOf, typedOf, isRttAlone, around });
  }

  #legs({ end, measured, near, site, legOf, typedOf, isRttAlone, around }: LegsInit): EndLegs {
    const { links } = this.#init;
    const legs: EndLegs = new Map();
    const typed = links.linkedWith(end);
    for (const depot of measured) {
      if (links.isFixed(end, depot) || !links.isBelieved(depot)) continue;
      const leg = legOf(depot);
      legs.set(depot, typed.has(depot) && isRttAlone(depot) ? withTyped(leg, typedOf(depot)) : leg);
    }
    for (const depot of typed) {
      const link = legs.has(depot) ? undefined : typedOf(depot);
      if (link) legs.set(depot, { link, doubt: NO_DOUBT });
    }
    if (typed.size > 0) return legs;
    if (legs.size === 0 && site !== undefined) legs.set(site, atSite(legOf(site)));
    if (legs.size === 0) for (const depot of near) if (links.isBelieved(depot)) legs.set(depot, legOf(depot));
    return nearest(this.#withTriangles(legs, legOf, around), MOST_LEGS);
  }

  /** Adds the legs of depots that have not measured an end, by those that have. */
  #withTriangles(legs: EndLegs, legOf: (depot: string) => EndLeg, around: Around): EndLegs {
    const bounds = new Map<string, { leastMs: number; mostMs: number }>();
    for (const [anchor, { link }] of nearest(legs, MOST_ANCHORS)) {
      for (const [depot, rttMs] of around(anchor)) {
        if (legs.has(depot)) continue;
        const known = bounds.get(depot) ?? { leastMs: 0, mostMs: Number.POSITIVE_INFINITY };
        const leastMs = Math.max(known.leastMs, Math.abs(rttMs - link.rttMs));
        // Where triangles do not hold, the shorter way does.
        const mostMs = Math.min(known.mostMs, rttMs + link.rttMs);
        bounds.set(depot, { leastMs: Math.min(leastMs, mostMs), mostMs });
      }
    }
    // Only the nearest are planned with, and what else is known of a leg costs far more than its bounds.
    const derived = [...bounds]
      .map(([depot, { leastMs, mostMs }]) => {
        return { depot, leastMs, mostMs, rttMs: Math.sqrt((leastMs ** 2 + mostMs ** 2) / 2) };
      })
      .toSorted((one, other) => one.rttMs - other.rttMs)
      .slice(0, MOST_LEGS);
    const all: EndLegs = new Map(legs);
    for (const { depot, leastMs, mostMs, rttMs } of derived) {
      const apart = Math.log(mostMs / Math.max(leastMs, mostMs / 20));
      const { link, doubt } = legOf(depot);
      all.set(depot, {
        link: { ...link, rttMs, source: 'derived' },
        doubt: { ...doubt, rtt: Math.min(BOUNDS_SPREAD.most, BOUNDS_SPREAD.perE * apart) },
        bounds: { leastMs, mostMs },
      });
    }
    return all;
  }

  /**
   * Nothing is known of an end, and something of the other one: only the depot beside that one is planned with, which is no detour wherever the
   * unknown end is.
   */
  #guess(
    unknown: EndLegs,
    known: EndLegs,
    isUsable: (depot: string) => boolean,
    legOf: (depot: string) => EndLeg,
  ): void {
    const ofDownload = [...known].filter(
      ([depot, { bounds }]) => bounds && bounds.mostMs <= BESIDE_MS && isUsable(depot),
    );
    const [nearestOne] = nearest(new Map(ofDownload), 1);
    if (!nearestOne) return;
    const [depot, leg] = nearestOne;
    known.clear();
    known.set(depot, leg);
    unknown.set(depot, legOf(depot));
  }

  #clientLeg(depot: string, prefix: string, nowMs: number): EndLeg {
    const { clients, windowBytes } = this.#init;
    const known = withoutOwnLosses(clients.distribution(depot, prefix, nowMs));
    const { goodputBps } = known;
    const isMeasured = goodputBps.source === 'measured';
    return endLeg(known, clients.known(prefix).has(depot), {
      rateBps: goodputBps.value,
      windowBytes,
      goodputBps: isMeasured ? goodputBps.value : undefined,
      rateSpread: Math.min(goodputBps.spread, UNKNOWN_RATE.spread),
    });
  }

  #originLeg(depot: string, host: string, sender: CongestionControl | undefined, nowMs: number): EndLeg {
    const { origins, windowBytes } = this.#init;
    const known = origins.distribution(depot, host, nowMs);
    const fact = origins.known(host).get(depot);
    const isMeasured = known.goodputBps.source === 'measured';
    const mostBps = Math.max(fact?.value.total?.value ?? 0, isMeasured ? known.goodputBps.value : 0);
    return endLeg(known, fact !== undefined, {
      // What one connection was given is no bound for several.
      rateBps: Math.max(UNKNOWN_RATE.bps, mostBps),
      windowBytes,
      goodputBps: isMeasured ? known.goodputBps.value : undefined,
      rateSpread: isMeasured ? known.goodputBps.spread : UNKNOWN_RATE.spread,
      sender,
    });
  }

  /** The most that an origin gives to one connection anywhere, where it is the origin that holds connections back. */
  #heldBps(host: string, nowMs: number): number | undefined {
    const { origins, links } = this.#init;
    const held = [...origins.known(host)].flatMap(([depot, { value }]) => {
      if (!links.isBelieved(depot)) return [];
      const { goodputBps } = origins.distribution(depot, host, nowMs);
      return value.limit === 'origin' && goodputBps.source === 'measured' ? [goodputBps.value] : [];
    });
    return held.length > 0 ? Math.max(...held) : undefined;
  }
}

interface LegsInit {
  readonly end: typeof CLIENT | typeof ORIGIN;
  /** Depots that have measured the end, and those that have measured its neighbours. */
  readonly measured: readonly string[];
  readonly near: Iterable<string>;
  readonly site: string | undefined;
  readonly legOf: (depot: string) => EndLeg;
  readonly typedOf: (depot: string) => LinkEstimate | undefined;
  /** Whether a depot that measured the end knows nothing but the round trip. */
  readonly isRttAlone: (depot: string) => boolean;
  readonly around: Around;
}

interface Carried {
  readonly rateBps: number;
  readonly windowBytes: number;
  readonly goodputBps: number | undefined;
  readonly rateSpread: number;
  readonly sender?: CongestionControl | undefined;
}

function endLeg(
  { rttMs, lossRate }: LegDistribution,
  isMeasured: boolean,
  { rateBps, windowBytes, goodputBps, rateSpread, sender }: Carried,
): EndLeg {
  const link = {
    rttMs: rttMs.value,
    lossRate: lossRate.value,
    rateBps,
    windowBytes,
    goodputBps,
    ageMs: rttMs.ageMs,
    ...(isMeasured ? {} : ({ source: rttMs.source === 'derived' ? 'derived' : 'assumed' } as const)),
    ...(sender ? { sender } : {}),
  };
  const doubt = { rtt: rttMs.spread, loss: lossRate.spread, rate: rateSpread };
  if (rttMs.source === 'assumed') return { link, doubt };
  const apart = isMeasured ? 1 : Math.exp(rttMs.spread);
  return { link, doubt, bounds: { leastMs: rttMs.value / apart, mostMs: rttMs.value * apart } };
}

function tellsRttAlone(figures: OriginFigures | undefined): boolean {
  return !figures?.goodput && !figures?.loss && !figures?.total;
}

/** A round trip that is measured, and all else as it is typed in. */
function withTyped(leg: EndLeg, typed: LinkEstimate | undefined): EndLeg {
  if (!typed) return leg;
  const { rttMs, ageMs } = leg.link;
  return { ...leg, link: { ...typed, rttMs, ageMs }, doubt: { rtt: leg.doubt.rtt, loss: 0, rate: 0 } };
}

function withoutOwnLosses(known: LegDistribution): LegDistribution {
  const { lossRate } = known;
  const { leastLoss, share, spread } = OF_THE_WAY;
  if (lossRate.value <= leastLoss) return known;
  const value = leastLoss * (lossRate.value / leastLoss) ** share;
  return { ...known, lossRate: { ...lossRate, value, spread: Math.max(spread, lossRate.spread) } };
}

function atSite({ link, doubt }: EndLeg): EndLeg {
  const { rttMs, spread } = OWN_SITE;
  const bounds = { leastMs: rttMs / Math.exp(spread), mostMs: rttMs * Math.exp(spread) };
  return { link: { ...link, rttMs, source: 'derived' }, doubt: { ...doubt, rtt: spread }, bounds };
}

function nearest(legs: EndLegs, most: number): EndLegs {
  if (legs.size <= most) return legs;
  const byRtt = [...legs].toSorted(([, one], [, other]) => one.link.rttMs - other.link.rttMs);
  return new Map(byRtt.slice(0, most));
}
