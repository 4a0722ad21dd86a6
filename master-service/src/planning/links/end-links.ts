import { CLIENT, clientPrefix, type LegEvidence, ORIGIN } from '@longhaul/shared';
import type { ClientTable } from '../../measuring/client-table.ts';
import type { OriginTable } from '../../measuring/origin-table.ts';
import { ClientLegs } from './client-legs.ts';
import { besideOf, boundsOf, DownloadLinks } from './download-links.ts';
import { BESIDE_MS, type EndLeg, type EndLegs, isMeasured } from './end-leg.ts';
import { type EndDepots, speakersOf, tellsRttAlone } from './known-legs.ts';
import { evidenceOf } from './link-evidence.ts';
import type { LinkTable } from './link-table.ts';
import type { DownloadEnds, LinkView } from './link-view.ts';
import { nearest } from './nearest-legs.ts';
import { givenToOne, sentInARoundBytes, toOneConnectionBps } from './origin-holds.ts';
import { OriginLegs } from './origin-legs.ts';
import { nearestPlaceBounds } from './several-places.ts';
import { withUnmet } from './unmet-depots.ts';

/** What the depots are like that a download may pass. */
export interface Overlay extends EndDepots {
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
  readonly #client: ClientLegs;
  readonly #origin: OriginLegs;

  constructor(init: EndLinksInit) {
    this.#init = init;
    this.#client = new ClientLegs(init);
    this.#origin = new OriginLegs(init);
  }

  /** How much is measured of two ends: another text when there is more. */
  stateOf({ client, origin }: DownloadEnds): string {
    const { clients, origins } = this.#init;
    const ofClient = client === undefined ? 0 : clients.measuredBy(clientPrefix(client));
    return `${ofClient} ${origin === undefined ? 0 : origins.known(origin).size}`;
  }

  /** The links as they are for one download. */
  between(ends: DownloadEnds, overlay: Overlay, nowMs: number): LinkView {
    const { clients, origins, links } = this.#init;
    const { around, isUsable, isInReach = () => true, isEntryGiven = false } = overlay;
    const prefix = ends.client === undefined ? undefined : clientPrefix(ends.client);
    const isBelieved = (depot: string) => links.isBelieved(depot);
    const manners = ends.origin === undefined ? {} : origins.manners(ends.origin, nowMs, isBelieved);
    const seen = this.#client.seen(prefix, nowMs);
    const hasMet = (depot: string) => prefix !== undefined && clients.hasMet(depot, prefix);
    const hasCome = (depot: string) =>
      hasMet(depot) || (prefix !== undefined && clients.isKnownTo(depot, prefix));
    const isEntry = (depot: string) => isUsable(depot) && (isInReach(depot) || hasCome(depot));
    const toClient = { around, isUsable: isEntry };
    const client = this.#client.all(prefix, seen, ends.clientSite, toClient, nowMs);
    const { legs: origin, isInSeveralPlaces } = this.#origin.all(ends.origin, manners.sender, overlay, nowMs);
    const met = new Set([...client].filter(([, leg]) => isMeasured(leg)).map(([depot]) => depot));
    // From a given entry depot on, where the client is makes no way a detour: each leg to the origin counts.
    const mayGuess = !isEntryGiven;
    if (mayGuess && client.size === 0 && !isInSeveralPlaces)
      guess(client, origin, isEntry, (depot) => this.#client.assumed(depot, prefix, nowMs));
    else if (mayGuess && origin.size === 0 && client.size > 0)
      guess(origin, client, isEntry, (depot) => this.#origin.one(depot, ends.origin ?? '', {}, nowMs));
    const rttBounds = isInSeveralPlaces
      ? nearestPlaceBounds(client, origin, around)
      : boundsOf(client, origin);
    const entries = this.#client.entries(client, prefix, isEntry);
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
    const by = speakersOf(links, known.keys()).get(depot);
    const fact = by === undefined ? undefined : known.get(by);
    if (by === undefined || !fact) return undefined;
    const measured =
      end === CLIENT ? clients.distribution(by, prefix, nowMs) : origins.distribution(by, host, nowMs);
    const isTyped = links.linkedWith(end).has(depot) && tellsRttAlone(fact.value);
    const typed = isTyped ? links.distribution(to, from, nowMs) : measured;
    return evidenceOf({ ...typed, rttMs: measured.rttMs }, [by]);
  }
}

/**
 * Nothing is known of an end, and something of the other one: only the depot beside that one is planned
 * with, which is no detour wherever the unknown end is.
 */
function guess(
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
