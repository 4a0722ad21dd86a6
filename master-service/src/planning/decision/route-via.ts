import { MAX_CHAIN_DEPOTS, ok, type Result, refuse } from '@longhaul/shared';
import { knowledgeOf } from '../links/leg-knowledge.ts';
import { chainLegs, legEnds, legOf, predict, promiseOf, type Senders } from '../search/chain-legs.ts';
import { OverlayLeg } from '../search/overlay-leg.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { DownloadMap } from './download-map.ts';
import { setUpOf } from './download-times.ts';
import type { Route, RouteQuery } from './route.ts';
import { explainLanes } from './route-reasons.ts';

interface ViaInit {
  readonly senders: Senders;
  readonly query: RouteQuery;
  /** In the order the bytes pass. */
  readonly via: readonly string[];
  readonly map: DownloadMap;
  readonly usable: readonly PlanningDepot[];
}

/** The route over exactly the depots that a client asks for; `bad-options` where they are no chain. */
export function routeVia({ senders, query, via, map, usable }: ViaInit): Result<Route> {
  if (via.length > MAX_CHAIN_DEPOTS || new Set(via).size < via.length) {
    return refuse('bad-options', `via takes up to ${MAX_CHAIN_DEPOTS} different depots`);
  }
  const chain = via.toReversed();
  const missing = chain.find((id) => !usable.some((depot) => depot.id === id));
  if (missing !== undefined) return refuse('bad-options', `the depot ${missing} is not up`);
  const entry = usable.find(({ id }) => id === chain[0]);
  if (entry && !map.isSecureEnough(entry))
    return refuse('bad-options', `the depot ${entry.id} speaks no TLS, as the entry depot here must`);
  const assumed = map.assumedLink;
  const legs = chainLegs(chain, (nearClient, nearOrigin) =>
    legOf(map.link(nearClient, nearOrigin) ?? assumed, nearOrigin, senders),
  );
  if (!legs) throw new Error('a leg has no estimate, although assumptions stand in');
  const setUp = setUpOf(query, chain, usable);
  const { lanes = 1, sizeBytes, calibration } = query;
  const links = legEnds(chain).map(([one, other]) => map.link(one, other));
  const knowledge = links.map(knowledgeOf);
  const parts = legEnds(chain).map((ends, index) => new OverlayLeg(links[index] ?? assumed, ends, senders));
  const direct = map.direct(parts);
  const unknown = legEnds(chain).filter((_, index) => !links[index]);
  const reasons = [
    'The chain was chosen by the client (via).',
    ...explainLanes({ chain, legs, lanes }, query.lanes !== undefined),
    ...unknown.map(
      ([one, other]) => `No estimate of the link ${one} - ${other}: assumptions are used for it.`,
    ),
  ];
  return ok({
    decision: 'chain',
    decisionReason: 'chain-asked',
    chain,
    alternatives: [],
    promises: [promiseOf(legs, lanes)],
    lanes,
    prediction: predict({ chain, legs, knowledge, sizeBytes, setUp, lanes, calibration }),
    direct: direct.predict(sizeBytes),
    expectedSeconds: 0,
    basis: { legs, setUp, direct: direct.basis, calibration },
    reasons,
  });
}
