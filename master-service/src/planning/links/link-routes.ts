import { DEPOT_ID, type LegEvidence, LonghaulError } from '@longhaul/shared';
import { type OperatorAccess, requireOperator } from '@longhaul/shared/service';
import { type Request, Router } from 'express';
import { linkEvidence } from './link-evidence.ts';
import type { LinkTable } from './link-table.ts';

/** Links in one answer, about a kilobyte each: the event loop is busy with it for some tens of milliseconds. */
const MOST_LISTED = 2_000;
/** Digits of what is exported: more than anybody can measure. */
const DIGITS = 4;

interface LinkRoutesInit {
  readonly links: Pick<LinkTable, 'pairs' | 'distribution' | 'measuredBy' | 'estimate' | 'unreached'>;
  readonly operators: OperatorAccess;
  readonly now: () => number;
}

/** One direction of a link. */
interface ListedLeg extends LegEvidence {
  readonly from: string;
  readonly to: string;
  /** The receiver cannot connect to the sender: nothing is led over it. */
  readonly isUnreached?: true;
}

/**
 * `GET /v1/links[?of=<depot>]`: what is known of the links, each direction for itself, those of one depot or
 * all, a part at a time. `GET /v1/links?as=links`: the same as the `links` of a configuration, which master
 * and lab read. For operators.
 */
export function linkRoutes({ links, operators, now }: LinkRoutesInit): Router {
  const router = Router();
  router.get('/v1/links', (request, response) => {
    requireOperator(request, operators);
    const { of, from, as } = readQuery(request);
    const all = [...links.pairs()].filter(([one, other]) => of === undefined || of === one || of === other);
    const pairs = all.slice(from, from + MOST_LISTED);
    const next = from + pairs.length < all.length ? { next: from + pairs.length } : {};
    response.setHeader('Cache-Control', 'no-store');
    if (as === 'links') {
      response.json({
        links: pairs.flatMap(([one, other]) => asConfigured(links, one, other, now()) ?? []),
        ...next,
      });
      return;
    }
    const legOf = (one: string, other: string): ListedLeg => ({
      from: other,
      to: one,
      ...linkEvidence(links, one, other, now()),
      ...(links.unreached.has(one, other, now()) ? { isUnreached: true } : {}),
    });
    const legs = pairs.flatMap(([one, other]) => [legOf(one, other), legOf(other, one)]);
    response.json({ links: legs, ...next });
  });
  return router;
}

function readQuery({ query: { of, from = '0', as } }: Request) {
  const isPlace = typeof from === 'string' && /^[0-9]{1,9}$/.test(from);
  if (of !== undefined && (typeof of !== 'string' || !DEPOT_ID.test(of)))
    throw new LonghaulError('bad-request', { detail: 'of takes the id of a depot, client or origin' });
  if (!isPlace) throw new LonghaulError('bad-request', { detail: 'from takes the next of an answer before' });
  if (as !== undefined && as !== 'links')
    throw new LonghaulError('bad-request', { detail: 'as takes links' });
  return { of, from: Number(from), as };
}

/**
 * A link as an operator would type it in; of its two directions the slower one. `undefined` where too little
 * is known of it.
 */
function asConfigured(links: LinkRoutesInit['links'], one: string, other: string, nowMs: number) {
  const directions = [links.estimate(one, other, nowMs), links.estimate(other, one, nowMs)];
  const [known] = directions
    .flatMap((link) => link ?? [])
    .toSorted((first, second) => (first.goodputBps ?? first.rateBps) - (second.goodputBps ?? second.rateBps));
  // What its rate is assumed to be is nothing that anybody could type in.
  if (!known || known.rateSource !== undefined) return undefined;
  const { rttMs, lossRate, rateBps } = known;
  return {
    between: [one, other],
    rttMs: rounded(rttMs),
    lossRate: rounded(lossRate),
    rateBps: rounded(rateBps),
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(DIGITS));
}
