import type { LegEstimate, LegKnowledge } from '@longhaul/shared';
import { ORIGIN, type PlannerConfig } from '../config.ts';
import { legOf, type Senders } from './chain-legs.ts';
import { knowledgeOf, knownAs } from './leg-knowledge.ts';
import type { LinkEstimate } from './link-view.ts';

export interface DirectEstimate {
  readonly leg: LegEstimate;
  /** Where it comes from: the client-origin link, the links of the best chain, or nothing but assumptions. */
  readonly source: 'link' | 'chain' | 'assumed';
  readonly knowledge: LegKnowledge;
}

/**
 * What is known of the direct way. Without a link of its own it is put together from the best chain's links (from the
 * client on): the sum of their round trips, the loss of all of them, the narrowest rate, the client's own window.
 */
export function estimateDirect(
  clientOrigin: LinkEstimate | undefined,
  chainLinks: readonly LinkEstimate[],
  assumptions: PlannerConfig['assumptions'],
  senders: Senders,
): DirectEstimate {
  if (clientOrigin) {
    const knowledge = knowledgeOf(clientOrigin);
    return { leg: legOf(clientOrigin, ORIGIN, senders), source: 'link', knowledge };
  }
  const [clientLink] = chainLinks;
  if (!clientLink) {
    const { rttMs, lossRate, rateBps, windowBytes } = assumptions;
    const leg = { rttMs, lossRate, rateBps, windowBytes, sender: senders.origin };
    return { leg, source: 'assumed', knowledge: knownAs('assumed') };
  }
  return {
    leg: {
      rttMs: chainLinks.reduce((sum, { rttMs }) => sum + rttMs, 0),
      lossRate: 1 - chainLinks.reduce((passed, { lossRate }) => passed * (1 - lossRate), 1),
      rateBps: Math.min(...chainLinks.map(({ rateBps }) => rateBps)),
      windowBytes: clientLink.windowBytes,
      sender: senders.origin,
    },
    source: 'chain',
    knowledge: knownAs('derived'),
  };
}
