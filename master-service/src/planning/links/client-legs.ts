import { CLIENT } from '@longhaul/shared';
import { type ClientQueue, NO_QUEUE } from '../../measuring/client-queue.ts';
import type { ClientTable } from '../../measuring/client-table.ts';
import type { ClientWindow } from '../../measuring/client-window.ts';
import { siteOf } from '../../measuring/measured-by.ts';
import { BESIDE_MS, type EndLeg, type EndLegs, endLeg, isMeasured, withoutOwnLosses } from './end-leg.ts';
import { type EndDepots, knownLegs, speakersOf, tellsRttAlone } from './known-legs.ts';
import type { LinkTable } from './link-table.ts';
import { UNKNOWN_RATE } from './origin-holds.ts';
import { withWorkedOut } from './worked-out-legs.ts';

/** What is the same for all legs to a client. */
export interface ClientSeen extends ClientQueue {
  readonly window: ClientWindow;
}

interface ClientLegsInit {
  readonly links: LinkTable;
  readonly clients: ClientTable;
  /** What counts where nobody says how large windows are. */
  readonly windowBytes: number;
}

/** Puts together what is known of a client, by the network that it is in; `undefined` where nobody knows that. */
export class ClientLegs {
  readonly #init: ClientLegsInit;

  constructor(init: ClientLegsInit) {
    this.#init = init;
  }

  /** What all depots' legs to a client have in common. */
  seen(prefix: string | undefined, nowMs: number): ClientSeen {
    const { clients, windowBytes } = this.#init;
    if (prefix === undefined) return { window: asAssumed(windowBytes), ...NO_QUEUE };
    return { window: clients.window(prefix, windowBytes, nowMs), ...clients.queue(prefix, nowMs) };
  }

  /** The legs that are measured, typed in or worked out. */
  all(
    prefix: string | undefined,
    seen: ClientSeen,
    site: string | undefined,
    { around, isUsable }: EndDepots,
    nowMs: number,
  ): EndLegs {
    const { links, clients } = this.#init;
    const measured = speakersOf(links, prefix === undefined ? [] : clients.nearestFirst(prefix));
    const near = speakersOf(links, prefix === undefined ? [] : clients.near(prefix));
    const legOf = (depot: string) =>
      this.one(measured.get(depot) ?? near.get(depot) ?? depot, prefix ?? '', seen, nowMs);
    const typedOf = (depot: string) => links.estimate(CLIENT, depot, nowMs);
    const isRttAlone = (depot: string) =>
      tellsRttAlone(clients.known(prefix ?? '').get(measured.get(depot) ?? '')?.value);
    const told = { measured, near, site, legOf, typedOf, isRttAlone } as const;
    const own = { end: CLIENT, ...told, around, isUsable } as const;
    const { legs, isComplete } = knownLegs(links, own);
    return isComplete ? legs : withWorkedOut(legs, own);
  }

  /** One depot's leg, by all that is known beside its round trip where nobody has measured that. */
  one(
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

  /** One depot's leg to a client of whom nothing is known. */
  assumed(depot: string, prefix: string | undefined, nowMs: number): EndLeg {
    const window = asAssumed(this.#init.windowBytes);
    return this.one(depot, prefix ?? '', { window, queueMs: 0 }, nowMs);
  }

  /**
   * The depots whose legs to the client are measured or short for sure, where one of them is beside it or its
   * site was asked. Of many legs that are worked out, the one that looks best is most often not so good, and
   * a client's line and window make a long leg worse still.
   */
  entries(
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
}

function asAssumed(bytes: number): ClientWindow {
  return { mostBytes: bytes, likelyBytes: bytes, offeredBytes: 0 };
}
