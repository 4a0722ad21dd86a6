import {
  CLIENT,
  type CongestionControl,
  clientPrefix,
  type EndName,
  type FigureSource,
  type LegEvidence,
  ORIGIN,
} from '@longhaul/shared';
import type { LegDistribution } from '../../estimates/leg-figures.ts';
import { OWN_LINE } from '../../estimates/own-lines.ts';
import { type ClientQueue, NO_QUEUE } from '../../measuring/client-queue.ts';
import type { ClientTable } from '../../measuring/client-table.ts';
import type { ClientWindow } from '../../measuring/client-window.ts';
import { siteOf } from '../../measuring/measured-by.ts';
import {
  fullBpsOf,
  type OriginFigures,
  type OriginTable,
  roomForSeveralBps,
  wornBpsOf,
} from '../../measuring/origin-table.ts';
import { agreedBounds, type RttBounds } from './agreed-bounds.ts';
import {
  type Around,
  besideOf,
  boundsOf,
  DownloadLinks,
  type EndLeg,
  type EndLegs,
  isMeasured,
} from './download-links.ts';
import { NO_DOUBT } from './leg-scenarios.ts';
import { evidenceOf } from './link-evidence.ts';
import type { LinkTable } from './link-table.ts';
import type { DownloadEnds, LinkEstimate, LinkView } from './link-view.ts';
import { boundByNarrowPlaces, type NarrowPlaces } from './narrow-places.ts';
import {
  givenToOne,
  heldTogetherBps,
  sentInARoundBytes,
  toOneAddressBps,
  toOneConnectionBps,
  totalOf,
  UNKNOWN_RATE,
} from './origin-holds.ts';
import { nearestPlaceBounds, standsInSeveralPlaces } from './several-places.ts';

/**
 * Depots whose legs to an end are planned with, the nearest first: further ones are hardly ever part of a best chain. As many count that no download may pass
 * now: what they have measured still tells where the end is.
 */
const MOST_LEGS = 32;
/** A depot counts as beside an end up to here: so small is the detour over it to anywhere. */
const BESIDE_MS = 30;
/** A depot that may be so much nearer to a client than all that have measured it is worth a download to know ... */
const MAY_BE_NEARER = 0.5;
/** ... and so is any other one where a client's line may carry so many times as much as the depot that serves it has ever sent to anybody. */
const MAY_BE_WIDER = 1.3;
/** A link that carries less than this part of what it did of late has become narrow. */
const FALLEN_SHARE = 0.5;
/** Such a part of a way may be a detour. */
const DETOUR = 0.2;
/** Measured depots from which others' distances to an end are worked out: the nearest ones bound them best. */
const MOST_ANCHORS = 3;
/** From a depot to the clients or origins of its own site. */
const OWN_SITE = { rttMs: 5, spread: 0.7 } as const;
/** A round trip between bounds that are e apart is known by so much, and at worst as well as one between strangers. */
const BOUNDS_SPREAD = { perE: 0.3, most: 0.8 } as const;

/**
 * A depot sends by BBR, which fills the queue on its way when it starts and when it tries for more: a part of what it loses is its own doing, which a
 * sender that holds back would not lose. The share of the logarithm, between hardly any loss and all that it saw, that is taken for the way's.
 */
const OF_THE_WAY = { leastLoss: 5e-6, share: 0.6, spread: 1.2 } as const;
/** What several connections got together that is so large a part of what one alone had may be all that the way carries. */
const FULL_SHARE = 0.8;

/** What the depots are like that a download may pass. */
export interface Overlay {
  readonly around: Around;
  /** Whether the download may pass a depot. */
  readonly isUsable: (depot: string) => boolean;
  /** Whether the client may come to a depot where nobody of its network was; left out, to each. */
  readonly isInReach?: (depot: string) => boolean;
  /** Whether the client is at its entry depot already: only the way from there to the origin is sought. */
  readonly isEntryGiven?: boolean;
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
 * end is known, and the entry depot is still to be chosen.
 */
export class EndLinks {
  readonly #init: EndLinksInit;

  constructor(init: EndLinksInit) {
    this.#init = init;
  }

  /** How much is measured of two ends: another text when there is more. */
  stateOf({ client, origin }: DownloadEnds): string {
    const { clients, origins } = this.#init;
    const ofClient = client === undefined ? 0 : clients.measuredBy(clientPrefix(client));
    return `${ofClient} ${origin === undefined ? 0 : origins.known(origin).size}`;
  }

  /** The links as they are for one download. */
  between(ends: DownloadEnds, overlay: Overlay, nowMs: number): LinkView {
    const { origins, links, windowBytes } = this.#init;
    const { around, isUsable, isInReach = () => true, isEntryGiven = false } = overlay;
    const prefix = ends.client === undefined ? undefined : clientPrefix(ends.client);
    const isBelieved = (depot: string) => links.isBelieved(depot);
    const manners = ends.origin === undefined ? {} : origins.manners(ends.origin, isBelieved);
    const seen = this.#clientSeen(prefix, nowMs);
    const hasMet = (depot: string) => prefix !== undefined && this.#init.clients.hasMet(depot, prefix);
    const hasCome = (depot: string) =>
      hasMet(depot) || (prefix !== undefined && this.#init.clients.isKnownTo(depot, prefix));
    const isEntry = (depot: string) => isUsable(depot) && (isInReach(depot) || hasCome(depot));
    const toClient = { around, isUsable: isEntry };
    const client = this.#clientLegs(prefix, seen, ends.clientSite, toClient, nowMs);
    const { legs: origin, isInSeveralPlaces } = this.#originLegs(ends.origin, manners.sender, overlay, nowMs);
    const met = new Set([...client].filter(([, leg]) => isMeasured(leg)).map(([depot]) => depot));
    // From a given entry depot on, where the client is makes no way a detour: each leg to the origin counts.
    const mayGuess = !isEntryGiven;
    if (mayGuess && client.size === 0 && !isInSeveralPlaces)
      this.#guess(client, origin, isEntry, (depot) =>
        this.#clientLeg(depot, prefix ?? '', { window: asAssumed(windowBytes), queueMs: 0 }, nowMs),
      );
    else if (mayGuess && origin.size === 0 && client.size > 0)
      this.#guess(origin, client, isEntry, (depot) => this.#originLeg(depot, ends.origin ?? '', {}, nowMs));
    const rttBounds = isInSeveralPlaces
      ? nearestPlaceBounds(client, origin, around)
      : boundsOf(client, origin);
    const entries = this.#entries(client, prefix, isEntry);
    const given = ends.origin === undefined ? [] : givenToOne(this.#init, ends.origin, nowMs);
    const via = besideOf(client, origin);
    // Behind what goes by measured legs: it makes others out of some that nobody has measured.
    const unmet = entries ? withUnmet(client, entries, hasMet) : new Set<string>();
    const pair = {
      rttBounds,
      isInSeveralPlaces,
      heldBps: toOneConnectionBps(given, rttBounds),
      givenBps: Math.max(0, ...given.map(({ bps }) => bps)),
      shownWindowBytes: Math.min(seen.window.offeredBytes, sentInARoundBytes(given)),
      sender: manners.sender,
      isLineFilled: seen.isFilled,
      via,
      met,
      entries,
      unmet,
      hasCome,
    };
    return new DownloadLinks(links, client, origin, pair, manners.takesRanges);
  }

  /**
   * What is known of the leg on which `from` sends to `to`, one of them an end of this download, and who has measured it; `undefined` where nobody has, or
   * what is typed in stands.
   */
  evidence(ends: DownloadEnds, to: string, from: string, nowMs: number): LegEvidence | undefined {
    const { links, clients, origins } = this.#init;
    const [end, depot] = to === CLIENT ? ([CLIENT, from] as const) : ([ORIGIN, to] as const);
    if ((end === ORIGIN && from !== ORIGIN) || links.isFixed(end, depot)) return undefined;
    const prefix = clientPrefix(ends.client ?? '');
    const [host, known] = [
      ends.origin ?? '',
      end === CLIENT ? clients.known(prefix) : origins.known(ends.origin ?? ''),
    ];
    const by = this.#speakers(known.keys()).get(depot);
    const fact = by === undefined ? undefined : known.get(by);
    if (by === undefined || !fact) return undefined;
    const measured =
      end === CLIENT ? clients.distribution(by, prefix, nowMs) : origins.distribution(by, host, nowMs);
    const isTyped = links.linkedWith(end).has(depot) && tellsRttAlone(fact.value);
    const typed = isTyped ? links.distribution(to, from, nowMs) : measured;
    return evidenceOf({ ...typed, rttMs: measured.rttMs }, [by]);
  }

  #clientSeen(prefix: string | undefined, nowMs: number): ClientSeen {
    const { clients, windowBytes } = this.#init;
    if (prefix === undefined) return { window: asAssumed(windowBytes), ...NO_QUEUE };
    return { window: clients.window(prefix, windowBytes, nowMs), ...clients.queue(prefix, nowMs) };
  }

  #clientLegs(
    prefix: string | undefined,
    seen: ClientSeen,
    site: string | undefined,
    { around, isUsable }: Overlay,
    nowMs: number,
  ): EndLegs {
    const { links, clients } = this.#init;
    const measured = this.#speakers(prefix === undefined ? [] : clients.nearestFirst(prefix));
    const near = this.#speakers(prefix === undefined ? [] : clients.near(prefix));
    const legOf = (depot: string) =>
      this.#clientLeg(measured.get(depot) ?? near.get(depot) ?? depot, prefix ?? '', seen, nowMs);
    const typedOf = (depot: string) => links.estimate(CLIENT, depot, nowMs);
    const isRttAlone = (depot: string) =>
      tellsRttAlone(clients.known(prefix ?? '').get(measured.get(depot) ?? '')?.value);
    const told = { measured, near, site, legOf, typedOf, isRttAlone } as const;
    const own = { end: CLIENT, ...told, around, isUsable } as const;
    const { legs, isComplete } = this.#knownLegs(own);
    return isComplete ? legs : this.#withWorkedOut(legs, own);
  }

  #originLegs(
    host: string | undefined,
    sender: CongestionControl | undefined,
    { around, isUsable }: Overlay,
    nowMs: number,
  ): { readonly legs: EndLegs; readonly isInSeveralPlaces: boolean } {
    const { links, origins } = this.#init;
    const measured = this.#speakers(host === undefined ? [] : origins.nearestFirst(host));
    const near = this.#speakers(host === undefined ? [] : origins.near(host));
    const perAddressBps = host === undefined ? undefined : toOneAddressBps(this.#init, host, nowMs);
    const legOf = (depot: string) => this.#originLeg(depot, host ?? '', { sender, perAddressBps }, nowMs);
    const typedOf = (depot: string) => {
      const typed = links.estimate(depot, ORIGIN, nowMs);
      return typed && sender ? { ...typed, sender } : typed;
    };
    const isRttAlone = (depot: string) => tellsRttAlone(origins.known(host ?? '').get(depot)?.value);
    const told = { measured, near, site: undefined, legOf, typedOf, isRttAlone } as const;
    const own = { end: ORIGIN, ...told, around, isUsable } as const;
    const { legs, isComplete } = this.#knownLegs(own);
    const isInSeveralPlaces = standsInSeveralPlaces(legs, around);
    // How far such an origin is from one depot says nothing of how far it is from another one.
    const all =
      isComplete || isInSeveralPlaces ? nearestOfBoth(legs, isUsable) : this.#withWorkedOut(legs, own);
    if (!isInSeveralPlaces) boundByNarrowPlaces(all, around, this.#narrowPlaces(host, nowMs));
    return { legs: all, isInSeveralPlaces };
  }

  #narrowPlaces(host: string | undefined, nowMs: number): NarrowPlaces {
    const { links, origins } = this.#init;
    const known = origins.known(host ?? '');
    return {
      fullBps: (depot) => {
        const fact = known.get(depot);
        const fullBps = fact && links.isBelieved(depot) ? fullBpsOf(fact, nowMs) : undefined;
        // Where it is the depot's own line that is full, others have theirs.
        return fullBps && links.mostReceivedBps(depot) >= OWN_LINE.times * fullBps ? fullBps : undefined;
      },
      fallenBps: (to, from) => {
        const { goodputBps, totalBps = 0, fellFromBps = 0, isBackward } = links.distribution(to, from, nowMs);
        // What `to` sends is its own word, and says nothing of what it gets.
        if (isBackward) return undefined;
        const nowBps = Math.max(goodputBps.value, totalBps);
        // Where it is the line of one end that has fallen, what passes it by may be as before.
        const mostElsewhereBps = Math.min(links.mostSentBps(from), links.mostReceivedBps(to));
        const isOwnLine = mostElsewhereBps < OWN_LINE.times * nowBps;
        const isTold = nowBps < FALLEN_SHARE * fellFromBps && !isOwnLine && links.isBelieved(from);
        return isTold ? nowBps : undefined;
      },
    };
  }

  /**
   * The depots whose legs to the client are measured or short for sure, where one of them is beside it or its site was asked. Of many legs that are worked out, the one that looks best is
   * most often not so good, and a client's line and window make a long leg worse still.
   */
  #entries(
    client: EndLegs,
    prefix: string | undefined,
    isEntry: (depot: string) => boolean,
  ): ReadonlySet<string> | undefined {
    const known = [...client].filter(([, leg]) => isMeasured(leg));
    const isNear = known.some(([depot, { link }]) => link.rttMs <= BESIDE_MS && isEntry(depot));
    // What lies beside it for sure is as good as one that has measured it, which may be full.
    const beside = [...client].filter(([, { bounds }]) => bounds !== undefined && bounds.mostMs <= BESIDE_MS);
    const told = prefix === undefined ? [] : this.#init.clients.known(prefix).keys();
    const nearestMs = Math.min(...known.map(([, { link }]) => link.rttMs));
    // A site that is far away was asked because no other one has a master: others' depots may be beside the client's neighbours.
    const isAsked =
      [...told].some((by) => siteOf(by) !== undefined) &&
      ![...client.values()].some(({ link }) => link.rttMs < nearestMs);
    return known.length > 0 && (isNear || isAsked)
      ? new Set([...known, ...beside].map(([depot]) => depot))
      : undefined;
  }

  /** Who speaks for each depot: itself where it is believed, else the master of its site. */
  #speakers(told: Iterable<string>): ReadonlyMap<string, string> {
    const speakers = new Map<string, string>();
    for (const by of told) {
      const site = siteOf(by);
      const isHeard = site === undefined ? this.#init.links.isBelieved(by) : !speakers.has(site);
      if (isHeard) speakers.set(site ?? by, by);
    }
    return speakers;
  }

  /** The legs to an end that somebody has measured or typed in, else those of its neighbours; complete where some are typed in for everybody. */
  #knownLegs({ end, measured, near, site, legOf, typedOf, isRttAlone, around, isUsable }: LegsInit): {
    readonly legs: EndLegs;
    readonly isComplete: boolean;
  } {
    const { links } = this.#init;
    const legs: EndLegs = new Map();
    const typed = links.linkedWith(end);
    const isAmongFirst = firstOfBoth(isUsable);
    for (const depot of measured.keys()) {
      if (links.isFixed(end, depot) || !(isAmongFirst(depot) || typed.has(depot))) continue;
      const leg = legOf(depot);
      legs.set(depot, typed.has(depot) && isRttAlone(depot) ? withTyped(leg, typedOf(depot)) : leg);
    }
    for (const depot of typed) {
      const link = legs.has(depot) ? undefined : typedOf(depot);
      if (link) legs.set(depot, { link, doubt: NO_DOUBT });
    }
    if (typed.size > 0) return { legs, isComplete: true };
    if (site !== undefined && !legs.has(site) && mayBeAt(site, legs, around))
      legs.set(site, atSite(legOf(site)));
    if (legs.size === 0) for (const depot of near.keys()) legs.set(depot, legOf(depot));
    return { legs, isComplete: false };
  }

  /** Adds the legs of depots that have not measured an end, by those that have, and by what they have measured of its neighbours. */
  #withWorkedOut(legs: EndLegs, init: LegsInit): EndLegs {
    const { near, legOf, isUsable } = init;
    const all = this.#withTriangles(legs, init);
    const nearestMs = Math.min(...[...legs.values()].map(({ link }) => link.rttMs));
    // With one that is measured beside the end, triangles tell more than neighbours do.
    if (nearestMs > BESIDE_MS) {
      for (const depot of near.keys()) {
        if (legs.has(depot)) continue;
        const byNeighbours = legOf(depot);
        if (apartOf(byNeighbours) < apartOf(all.get(depot))) all.set(depot, byNeighbours);
      }
    }
    return nearestOfBoth(all, isUsable);
  }

  /** Adds the legs of depots that have not measured an end, by those that have. */
  #withTriangles(legs: EndLegs, { legOf, around, isUsable }: LegsInit): EndLegs {
    const told = new Map<string, RttBounds[]>();
    for (const [anchor, { link }] of nearest(legs, MOST_ANCHORS)) {
      for (const [depot, rttMs] of around(anchor)) {
        if (legs.has(depot)) continue;
        const bounds = { leastMs: Math.abs(rttMs - link.rttMs), mostMs: rttMs + link.rttMs };
        const known = told.get(depot);
        if (known) known.push(bounds);
        else told.set(depot, [bounds]);
      }
    }
    // Only the nearest are planned with, and what else is known of a leg costs far more than its bounds.
    const derived = [...told]
      .map(([depot, all]) => {
        const { leastMs, mostMs } = boundsByAll(all);
        return { depot, leastMs, mostMs, rttMs: Math.sqrt((leastMs ** 2 + mostMs ** 2) / 2) };
      })
      .toSorted((one, other) => one.rttMs - other.rttMs);
    const isAmongFirst = firstOfBoth(isUsable);
    const all: EndLegs = new Map(legs);
    for (const { depot, leastMs, mostMs, rttMs } of derived) {
      if (!isAmongFirst(depot)) continue;
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
    isEntry: (depot: string) => boolean,
    legOf: (depot: string) => EndLeg,
  ): void {
    const ofDownload = [...known].filter(
      ([depot, { bounds }]) => bounds && bounds.mostMs <= BESIDE_MS && isEntry(depot),
    );
    const [nearestOne] = nearest(new Map(ofDownload), 1);
    if (!nearestOne) return;
    const [depot, leg] = nearestOne;
    known.clear();
    known.set(depot, leg);
    unknown.set(depot, legOf(depot));
  }

  #clientLeg(
    depot: string,
    prefix: string,
    { window, queueMs }: Pick<ClientSeen, 'window' | 'queueMs'>,
    nowMs: number,
  ): EndLeg {
    const { clients } = this.#init;
    const known = withoutOwnLosses(clients.distribution(depot, prefix, nowMs));
    const { goodputBps } = known;
    const isMeasured = goodputBps.source === 'measured';
    const lineBps = clients.untoldLineBps(depot, prefix, nowMs);
    return endLeg(known, clients.isKnownTo(depot, prefix), {
      rateBps: goodputBps.value,
      lineBps,
      queueMs,
      windowBytes: window.mostBytes,
      likelyWindowBytes: window.likelyBytes,
      goodputBps: isMeasured ? goodputBps.value : undefined,
      rateSource: goodputBps.source,
      rateSpread: Math.min(goodputBps.spread, UNKNOWN_RATE.spread),
    });
  }

  #originLeg(
    depot: string,
    host: string,
    {
      sender,
      perAddressBps,
    }: {
      readonly sender?: CongestionControl | undefined;
      readonly perAddressBps?: number | undefined;
    },
    nowMs: number,
  ): EndLeg {
    const { origins, windowBytes } = this.#init;
    const known = origins.distribution(depot, host, nowMs);
    const fact = origins.known(host).get(depot);
    const isMeasured = known.goodputBps.source === 'measured';
    const total = totalOf(fact, nowMs);
    // Several that fill what one alone had each have a part of it.
    const isFull = total.source === 'measured' && total.value >= FULL_SHARE * known.goodputBps.value;
    const wornBps = (fact && !isFull && wornBpsOf(fact, nowMs)) || Number.POSITIVE_INFINITY;
    const ofSeveral = total.source === 'measured' ? total.spread : UNKNOWN_RATE.spread;
    const isAsOthersSaw = total.source !== 'measured' && perAddressBps !== undefined;
    const heldBps = isAsOthersSaw ? perAddressBps : heldTogetherBps(known.goodputBps, fact, nowMs);
    // What one connection was given is no bound for several, nor what several were that left room, but for far more than that.
    const fullBps = fact && fullBpsOf(fact, nowMs);
    const roomBps = (fact && roomForSeveralBps(fact, nowMs)) ?? Number.POSITIVE_INFINITY;
    const ofAllBps = Math.min(Math.max(UNKNOWN_RATE.bps, total.value), roomBps);
    return endLeg(known, fact !== undefined, {
      rateBps: heldBps ?? fullBps ?? Math.max(ofAllBps, isMeasured ? known.goodputBps.value : 0),
      windowBytes,
      // Where lanes follow, the fastest second of one alone is that of its start: it does not last.
      goodputBps: isMeasured ? Math.min(known.goodputBps.value, wornBps, fullBps ?? wornBps) : undefined,
      rateSource: isMeasured || fullBps !== undefined ? 'measured' : total.source,
      rateSpread: isMeasured ? known.goodputBps.spread : ofSeveral,
      sender,
    });
  }
}

interface LegsInit extends Pick<Overlay, 'around' | 'isUsable'> {
  readonly end: EndName;
  /** Depots that have measured the end, the nearest first, and those that have measured its neighbours, with who speaks for them. */
  readonly measured: ReadonlyMap<string, string>;
  readonly near: ReadonlyMap<string, string>;
  readonly site: string | undefined;
  readonly legOf: (depot: string) => EndLeg;
  readonly typedOf: (depot: string) => LinkEstimate | undefined;
  /** Whether a depot that measured the end knows nothing but the round trip. */
  readonly isRttAlone: (depot: string) => boolean;
}

/**
 * The depots that may be much nearer to a client than those that have measured it, `entries`, or send to it what the nearest of those cannot. Their legs, which are worked out, become as all
 * that is known makes them: no longer than the triangles allow, and with the line and the losses of the nearest one that has measured it. What knows the network by another one learns nothing
 * of it from one more download.
 */
function withUnmet(
  client: EndLegs,
  entries: ReadonlySet<string>,
  hasMet: (depot: string) => boolean,
): ReadonlySet<string> {
  const metLegs = new Map([...client].filter(([id, leg]) => entries.has(id) && isMeasured(leg)));
  const [nearestOne] = nearest(metLegs, 1);
  const unmet = new Set<string>();
  if (!nearestOne) return unmet;
  const [met, { link: known, doubt: ofKnown }] = nearestOne;
  const { rateBps, lossRate, goodputBps, rateSource, lineBps = rateBps } = known;
  const mostBps = Math.max(...[...metLegs.values()].map(({ link }) => link.rateBps));
  const mayBeWider = lineBps >= MAY_BE_WIDER * mostBps;
  const mostLeastMs = mayBeWider ? Number.POSITIVE_INFINITY : MAY_BE_NEARER * known.rttMs;
  // What one depot's own line carries says nothing of another one's.
  const rate = mayBeWider
    ? { figures: { rateBps: lineBps, goodputBps: undefined }, doubt: { rate: UNKNOWN_RATE.spread } }
    : {
        figures: { rateBps, goodputBps, ...(rateSource ? { rateSource } : {}) },
        doubt: { rate: ofKnown.rate, rateAs: `${CLIENT} ${met}` },
      };
  for (const [depot, { link, doubt, bounds }] of client) {
    if (entries.has(depot) || hasMet(depot) || !bounds || bounds.leastMs > mostLeastMs) continue;
    client.set(depot, {
      // A short leg says nothing of what a longer one loses.
      link: {
        ...link,
        ...rate.figures,
        lossRate: bounds.leastMs > known.rttMs ? Math.max(link.lossRate, lossRate) : lossRate,
      },
      doubt: { rtt: doubt.rtt, loss: ofKnown.loss, ...rate.doubt, mostRttMs: bounds.mostMs },
      bounds,
    });
    unmet.add(depot);
  }
  return unmet;
}

/** What is the same for all legs to a client. */
interface ClientSeen extends ClientQueue {
  readonly window: ClientWindow;
}

function asAssumed(bytes: number): ClientWindow {
  return { mostBytes: bytes, likelyBytes: bytes, offeredBytes: 0 };
}

interface Carried {
  readonly rateBps: number;
  readonly windowBytes: number;
  readonly likelyWindowBytes?: number;
  readonly goodputBps: number | undefined;
  readonly rateSource: FigureSource;
  readonly rateSpread: number;
  readonly lineBps?: number | undefined;
  readonly queueMs?: number;
  readonly sender?: CongestionControl | undefined;
}

function endLeg({ rttMs, lossRate }: LegDistribution, isMeasured: boolean, carried: Carried): EndLeg {
  const { rateBps, windowBytes, likelyWindowBytes = windowBytes, goodputBps, rateSource } = carried;
  const { rateSpread, lineBps = 0, queueMs = 0, sender } = carried;
  const link = {
    rttMs: rttMs.value,
    lossRate: lossRate.value,
    rateBps,
    windowBytes,
    ...(likelyWindowBytes < windowBytes ? { likelyWindowBytes } : {}),
    goodputBps,
    ageMs: rttMs.ageMs,
    ...(isMeasured ? {} : ({ source: rttMs.source === 'derived' ? 'derived' : 'assumed' } as const)),
    rateSource,
    ...(lineBps > rateBps ? { lineBps } : {}),
    ...(queueMs > 0 ? { queueMs } : {}),
    ...(sender ? { sender } : {}),
  };
  const doubt = { rtt: rttMs.spread, loss: lossRate.spread, rate: rateSpread };
  if (rttMs.source === 'assumed') return { link, doubt };
  const apart = isMeasured ? 1 : Math.exp(rttMs.spread);
  return { link, doubt, bounds: { leastMs: rttMs.value / apart, mostMs: rttMs.value * apart } };
}

/** What triangles with some depots leave; where they contradict each other, who says that it is near is outvoted: nobody makes others near. */
function boundsByAll(all: readonly RttBounds[]): RttBounds {
  let [leastMs, mostMs] = [0, Number.POSITIVE_INFINITY];
  for (const bounds of all) {
    leastMs = Math.max(leastMs, bounds.leastMs);
    mostMs = Math.min(mostMs, bounds.mostMs);
  }
  const isAgreed = leastMs <= mostMs;
  return (isAgreed ? undefined : agreedBounds(all, 'furthest')) ?? { leastMs, mostMs };
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

/** Whether an end can be at a site, by how far the depots are from there that have measured it: ways may be detours. */
function mayBeAt(site: string, legs: EndLegs, around: Around): boolean {
  for (const [anchor, { link }] of legs) {
    for (const [depot, rttMs] of around(anchor)) {
      if (depot === site && Math.abs(rttMs - link.rttMs) > BESIDE_MS + DETOUR * rttMs) return false;
    }
  }
  return true;
}

function atSite({ link, doubt }: EndLeg): EndLeg {
  const { rttMs, spread } = OWN_SITE;
  const bounds = { leastMs: rttMs / Math.exp(spread), mostMs: rttMs * Math.exp(spread) };
  return { link: { ...link, rttMs, source: 'derived' }, doubt: { ...doubt, rtt: spread }, bounds };
}

/** How far apart the bounds of a round trip are, as a logarithm. */
function apartOf(leg: EndLeg | undefined): number {
  if (!leg?.bounds) return Number.POSITIVE_INFINITY;
  const { leastMs, mostMs } = leg.bounds;
  return Math.log(mostMs / Math.max(leastMs, mostMs / 1000));
}

function nearest(legs: EndLegs, most: number): EndLegs {
  return legs.size <= most ? legs : new Map(byRtt(legs).slice(0, most));
}

/** The nearest ones of the depots that a download may pass, and of those that it may not. */
function nearestOfBoth(legs: EndLegs, isUsable: Overlay['isUsable']): EndLegs {
  if (legs.size <= MOST_LEGS) return legs;
  const isAmongFirst = firstOfBoth(isUsable);
  return new Map(byRtt(legs).filter(([depot]) => isAmongFirst(depot)));
}

function byRtt(legs: EndLegs) {
  return [...legs].toSorted(([, one], [, other]) => one.link.rttMs - other.link.rttMs);
}

/** Of depots that are asked for one after the other the first ones that a download may pass, and as many others: those that are gone take no places. */
function firstOfBoth(isUsable: Overlay['isUsable']): (depot: string) => boolean {
  let [usable, others] = [0, 0];
  return (depot) => {
    if (isUsable(depot)) return ++usable <= MOST_LEGS;
    return ++others <= MOST_LEGS;
  };
}
