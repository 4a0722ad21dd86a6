import { clientPrefix, type GetOptions, type OriginUrl, ok, type Result } from '@longhaul/shared';
import type { MasterConfig } from '../../config.ts';
import type { Place } from '../../prefixes/whereabouts.ts';
import type { Exploring } from '../decision/choose-to-learn.ts';
import { HeldWays } from '../decision/held-ways.ts';
import type { Planner } from '../decision/planner.ts';
import type { RerouteQuery, Route, RouteQuery } from '../decision/route.ts';
import type { DownloadEnds } from '../links/link-view.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import { Explorer } from './explorer.ts';
import type { Decided, DownloadRequest, IssuedPlan, KnownThen } from './issued-plan.ts';
import type { LearnedOfPairs } from './learned-of-pairs.ts';
import { type LedTo, type OriginPlace, originsOf, plannedHost } from './led-to.ts';
import { RouteCache } from './route-cache.ts';
import type { SizeEstimate } from './size-estimate.ts';

interface RouteChooserInit extends LearnedOfPairs {
  readonly config: Pick<MasterConfig, 'planner'>;
  readonly publicUrl: () => string;
  readonly planner: Planner;
  readonly registry: {
    readonly views: (nowMs: number) => readonly PlanningDepot[];
    /** How often one of them fails. */
    readonly failuresPerSecond: number;
  };
  /** 0 to below 1, evenly; says which downloads may be used to learn. */
  readonly random?: () => number;
}

/** Who asks for a file, where, and how. */
export interface Asked extends Pick<DownloadRequest, 'clientAddress' | 'kind'> {
  readonly url: OriginPlace;
}

/** What is known when a way is chosen. */
interface Known extends Pick<Decided, 'size' | 'client'>, KnownThen {
  /** The plan that was given already, and is to be explained. */
  readonly given: IssuedPlan | undefined;
}

/**
 * Chooses the way of a download by the planner, and by what the planner does not know: what clients of its
 * network had and said, and whether it may be used to learn.
 */
export class RouteChooser {
  readonly #init: RouteChooserInit;
  readonly #ways = new HeldWays();
  readonly #routes = new RouteCache();
  readonly #explorer: Explorer;

  constructor(init: RouteChooserInit) {
    const { config, random } = init;
    this.#init = init;
    this.#explorer = new Explorer({ ...config.planner.explore, ...(random ? { random } : {}) });
  }

  /** What was decided lately is decided again. */
  noteChange(): void {
    this.#routes.clear();
  }

  /**
   * The host that a download is planned by: what its redirects lead to, where downloads have shown that and a
   * depot has met it, else the one that is asked. Of the ends that alone is another one; policy, tickets,
   * sizes, and what clients said and had, go by the one that is asked.
   */
  originOf(asked: Asked): string {
    return plannedHost(asked.url.host, this.ledTo(asked));
  }

  /**
   * Where its bytes come from, if that is elsewhere, and known. Through a tunnel nobody but the client
   * follows redirects.
   */
  ledTo({ url: { host }, clientAddress: address, kind }: Asked): LedTo | undefined {
    const { leads } = this.#init;
    if (kind === 'tunnel' || !leads?.mayLead(host)) return undefined;
    return leads.of({ network: clientPrefix(address), host });
  }

  /**
   * Whether a client loses secrecy on its way to a depot without TLS: it comes by https for what is secret up to
   * there. Browsers and package managers refuse to be led so, and others would not tell.
   */
  needsTlsEntry({ url, kind }: Pick<DownloadRequest, 'url' | 'kind'>): boolean {
    const isSecret = url.scheme === 'https' || kind === 'tunnel';
    return isSecret && this.#init.publicUrl().startsWith('https:');
  }

  /**
   * The depots that no chain of a download may end with: they cannot connect to where it is asked for, or
   * comes from.
   */
  notExits(asked: Asked, nowMs: number): ReadonlySet<string> {
    const { unreachedOrigins } = this.#init;
    if (!unreachedOrigins) return new Set();
    return unreachedOrigins.by(originsOf(asked.url, this.ledTo(asked)), nowMs);
  }

  choose(request: DownloadRequest, known: Known, nowMs: number): Result<Route> {
    const { url, options, kind, clientAddress: address } = request;
    // What a request chooses by itself says nothing of the next one.
    const isFree = !options.via?.length && !options.avoid?.length && options.lanes === undefined;
    const wished = this.#wished(address, url.host, options, nowMs);
    if (!isFree || known.given)
      return this.#plan(
        request,
        known,
        { ...options, ...wished, ...this.#learned(request, known, nowMs) },
        nowMs,
      );
    const exploring = this.#explorer.next(address);
    const isUsual = !wished.avoid && !wished.isDirectPreferred;
    const question = isUsual ? questionOf(request, known, exploring) : '';
    const same = isUsual ? this.#routes.get(question, known.upDepots, nowMs) : undefined;
    if (same) {
      this.#explorer.note(address, same.decisionReason === 'to-learn');
      return ok(same);
    }
    const { held } = this.#learned(request, known, nowMs);
    const route = this.#plan(
      request,
      known,
      { ...options, ...wished, ...(held ? { held } : {}), exploring },
      nowMs,
    );
    if (!route.ok) return route;
    const { chain, expectedSeconds, decisionReason } = route.value;
    const { sizeBytes } = known.size;
    const isToLearn = decisionReason === 'to-learn';
    this.#explorer.note(address, isToLearn);
    if (!isToLearn)
      this.#ways.set(
        { address, url, kind, sizeBytes },
        { chain, seconds: expectedSeconds, sizeBytes },
        nowMs,
      );
    if (isUsual) this.#routes.set(question, known.upDepots, route.value, nowMs);
    return route;
  }

  /**
   * What chains from other entry depots are asked for with, for the same download: past what its own chain
   * goes past.
   */
  rerouteQuery(
    request: DownloadRequest,
    { size, client }: Pick<Known, 'size' | 'client'>,
    nowMs: number,
  ): Omit<RerouteQuery, 'entry' | 'lanes'> {
    const { url, options, clientAddress: address } = request;
    const { avoid = options.avoid ?? [] } = this.#wished(address, url.host, options, nowMs);
    const notExits = this.notExits(request, nowMs);
    return { ...toCarry(url, size), ends: this.#endsOf(request, client), avoid, notExits };
  }

  #plan(
    request: DownloadRequest,
    { size, client }: Known,
    wanted: Partial<RouteQuery>,
    nowMs: number,
  ): Result<Route> {
    const { url, kind, clientAddress: address } = request;
    const { planner, registry, calibrations, ways } = this.#init;
    const { source, isWholeOnly } = size;
    // Lanes are the entry depot's ranges, and it does not see into a tunnel.
    const lanes = kind === 'tunnel' ? { lanes: 1 } : {};
    const breaks = isWholeOnly ? { depotBreaksPerSecond: registry.failuresPerSecond } : {};
    const isSizeAssumed = source === 'assumed';
    const needsTlsEntry = this.needsTlsEntry(request);
    const ends = this.#endsOf(request, client);
    // What was asked for there is what comes again, wherever it comes from.
    const pair = { network: clientPrefix(address), host: url.host };
    const calibration = calibrations?.factor(pair, nowMs) ?? 1;
    const learned = { taken: ways?.of(pair, nowMs) ?? [], takenDirect: ways?.direct(pair, nowMs) ?? [] };
    const notExits = this.notExits(request, nowMs);
    const known = {
      ...toCarry(url, size),
      needsTlsEntry,
      isSizeAssumed,
      ends,
      notExits,
      calibration,
      ...learned,
    };
    return planner.plan({ ...wanted, ...lanes, ...breaks, ...known }, registry.views(nowMs), nowMs);
  }

  /** That this site's master was asked says nothing of where a client is, unless masters share an address. */
  #endsOf(request: DownloadRequest, { site }: Place): DownloadEnds {
    const clientSite = site && site.rule !== 'asked' ? { clientSite: site.name } : {};
    return { client: request.clientAddress, origin: this.originOf(request), ...clientSite };
  }

  /**
   * What clients of this network had; and of a plan that was given to learn by, its chain, so that it is
   * explained as it was.
   */
  #learned(
    { clientAddress: address, url, kind }: DownloadRequest,
    { size, given }: Known,
    nowMs: number,
  ): { readonly held?: RouteQuery['held']; readonly exploring?: Exploring } {
    const held = this.#ways.get({ address, url, kind, sizeBytes: size.sizeBytes }, nowMs);
    const exploring = given?.isToLearn && { mostRegret: Number.POSITIVE_INFINITY, chain: given.chain };
    return { ...(held ? { held } : {}), ...(exploring ? { exploring } : {}) };
  }

  /** What clients of this network have said, unless the request itself chooses its way. */
  #wished(
    address: string,
    host: string,
    { via = [], avoid = [] }: GetOptions,
    nowMs: number,
  ): Pick<RouteQuery, 'avoid' | 'isDirectPreferred'> {
    const { wishes } = this.#init;
    if (!wishes || wishes.isEmpty || via.length > 0) return {};
    const network = clientPrefix(address);
    const avoided = wishes.avoidedBy(network, nowMs);
    return {
      ...(avoided.length > 0 ? { avoid: [...avoid, ...avoided] } : {}),
      isDirectPreferred: wishes.prefersDirect(network, host, nowMs),
    };
  }
}

/** What is to be carried. */
function toCarry({ scheme }: OriginUrl, { sizeBytes }: SizeEstimate) {
  return { sizeBytes, originTls: scheme === 'https' };
}

/** All that decides a way beside the links, the same text for the same. */
function questionOf(
  { clientAddress: address, url, kind }: DownloadRequest,
  { size, known }: Known,
  exploring: Exploring | undefined,
): string {
  const { sizeBytes, source, isWholeOnly } = size;
  const toLearn = exploring ? (exploring.isToMeet ? 'meet' : 'learn') : 'best';
  return `${address} ${originOf(url)} ${kind} ${sizeBytes} ${source} ${isWholeOnly} ${toLearn} ${known}`;
}

function originOf({ scheme, host, port }: OriginUrl): string {
  return `${scheme} ${host}:${port}`;
}
