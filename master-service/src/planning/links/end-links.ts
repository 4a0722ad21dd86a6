import {
  CLIENT,
  type CongestionControl,
  clientPrefix,
  type EndName,
  type LegEvidence,
  ORIGIN,
} from '@longhaul/shared';
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
import { besideOf, boundsOf, DownloadLinks } from './download-links.ts';
import {
  type Around,
  atSite,
  BESIDE_MS,
  type EndLeg,
  type EndLegs,
  endLeg,
  isMeasured,
  withoutOwnLosses,
  withTyped,
} from './end-leg.ts';
import { NO_DOUBT } from './leg-scenarios.ts';
import { evidenceOf } from './link-evidence.ts';
import type { LinkTable } from './link-table.ts';
import type { DownloadEnds, LinkEstimate, LinkView } from './link-view.ts';
import { boundByNarrowPlaces, type NarrowPlaces } from './narrow-places.ts';
import { firstOfBoth, nearest, nearestOfBoth } from './nearest-legs.ts';
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
import { withUnmet } from './unmet-depots.ts';
import { withWorkedOut } from './worked-out-legs.ts';

/** A link that carries less than this part of what it did of late has become narrow. */
const FALLEN_SHARE = 0.5;
/** Such a part of a way may be a detour. */
const DETOUR_SHARE = 0.2;
/**
 * What several connections got together that is so large a part of what one alone had may be all that the way
 * carries.
 */
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
 * Puts together what is known of the ends of one download. Of each depot's leg to an end counts, in this
 * order: a link that is typed in as fixed, what the depot measured of this end, what is typed in for
 * everybody; where nothing is typed in, the site that the end is said to belong to, what depots measured of
 * its neighbours, and the triangles with depots that measured it. Of an end of which nothing at all is known
 * legs are assumed only while the other end is known, and the entry depot is still to be chosen.
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
    const manners = ends.origin === undefined ? {} : origins.manners(ends.origin, nowMs, isBelieved);
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
   * What is known of the leg on which `from` sends to `to`, one of them an end of this download, and who has
   * measured it; `undefined` where nobody has, or what is typed in stands.
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
    return isComplete ? legs : withWorkedOut(legs, own);
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
    const all = isComplete || isInSeveralPlaces ? nearestOfBoth(legs, isUsable) : withWorkedOut(legs, own);
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
   * The depots whose legs to the client are measured or short for sure, where one of them is beside it or its
   * site was asked. Of many legs that are worked out, the one that looks best is most often not so good, and
   * a client's line and window make a long leg worse still.
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
    // A site that is far away was asked because no other one has a master: others' depots may be beside the
    // client's neighbours.
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

  /**
   * The legs to an end that somebody has measured or typed in, else those of its neighbours; complete where
   * some are typed in for everybody.
   */
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

  /**
   * Nothing is known of an end, and something of the other one: only the depot beside that one is planned
   * with, which is no detour wherever the unknown end is.
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
    const isRateMeasured = goodputBps.source === 'measured';
    const lineBps = clients.untoldLineBps(depot, prefix, nowMs);
    return endLeg(known, clients.isKnownTo(depot, prefix), {
      rateBps: goodputBps.value,
      lineBps,
      queueMs,
      windowBytes: window.mostBytes,
      likelyWindowBytes: window.likelyBytes,
      goodputBps: isRateMeasured ? goodputBps.value : undefined,
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
    const isRateMeasured = known.goodputBps.source === 'measured';
    const total = totalOf(fact, nowMs);
    // Several that fill what one alone had each have a part of it.
    const isFull = total.source === 'measured' && total.value >= FULL_SHARE * known.goodputBps.value;
    const wornBps = (fact && !isFull && wornBpsOf(fact, nowMs)) || Number.POSITIVE_INFINITY;
    const ofSeveral = total.source === 'measured' ? total.spread : UNKNOWN_RATE.spread;
    const isAsOthersSaw = total.source !== 'measured' && perAddressBps !== undefined;
    const heldBps = isAsOthersSaw ? perAddressBps : heldTogetherBps(known.goodputBps, fact, nowMs);
    // What one connection was given is no bound for several, nor what several were that left room, but for
    // far more than that.
    const fullBps = fact && fullBpsOf(fact, nowMs);
    const roomBps = (fact && roomForSeveralBps(fact, nowMs)) ?? Number.POSITIVE_INFINITY;
    const ofAllBps = Math.min(Math.max(UNKNOWN_RATE.bps, total.value), roomBps);
    return endLeg(known, fact !== undefined, {
      rateBps: heldBps ?? fullBps ?? Math.max(ofAllBps, isRateMeasured ? known.goodputBps.value : 0),
      windowBytes,
      // Where lanes follow, the fastest second of one alone is that of its start: it does not last.
      goodputBps: isRateMeasured ? Math.min(known.goodputBps.value, wornBps, fullBps ?? wornBps) : undefined,
      rateSource: isRateMeasured || fullBps !== undefined ? 'measured' : total.source,
      rateSpread: isRateMeasured ? known.goodputBps.spread : ofSeveral,
      sender,
    });
  }
}

interface LegsInit extends Pick<Overlay, 'around' | 'isUsable'> {
  readonly end: EndName;
  /**
   * Depots that have measured the end, the nearest first, and those that have measured its neighbours, with
   * who speaks for them.
   */
  readonly measured: ReadonlyMap<string, string>;
  readonly near: ReadonlyMap<string, string>;
  readonly site: string | undefined;
  readonly legOf: (depot: string) => EndLeg;
  readonly typedOf: (depot: string) => LinkEstimate | undefined;
  /** Whether a depot that measured the end knows nothing but the round trip. */
  readonly isRttAlone: (depot: string) => boolean;
}

/** What is the same for all legs to a client. */
interface ClientSeen extends ClientQueue {
  readonly window: ClientWindow;
}

function asAssumed(bytes: number): ClientWindow {
  return { mostBytes: bytes, likelyBytes: bytes, offeredBytes: 0 };
}

function tellsRttAlone(figures: OriginFigures | undefined): boolean {
  return !figures?.goodput && !figures?.loss && !figures?.total;
}

/** Whether an end can be at a site, by how far the depots are from there that have measured it: ways may be detours. */
function mayBeAt(site: string, legs: EndLegs, around: Around): boolean {
  for (const [anchor, { link }] of legs) {
    for (const [depot, rttMs] of around(anchor)) {
      if (depot === site && Math.abs(rttMs - link.rttMs) > BESIDE_MS + DETOUR_SHARE * rttMs) return false;
    }
  }
  return true;
}
