import {
  chainSeconds,
  DEPOT_CONGESTION_CONTROL,
  FITTED,
  type FittedConstants,
  type LegEstimate,
  type SetUp,
  setUpSeconds,
  USUAL_CONGESTION_CONTROL,
} from '@longhaul/shared';
import { masterSite, type Scenario, type Variant } from '../experiment.ts';
import { linkEstimates, payloadRateBps } from '../hosts/link-estimates.ts';
import { pathBetween } from '../network/routes.ts';

/** Linux's default maximum of 6 MiB gives about this window where a topology says nothing else. */
const DEFAULT_WINDOW_BYTES = 3.6e6;

/** Round-trip time between client and origin. */
export function rttOf({ topology, client, origin }: Scenario): number {
  return pathBetween(topology, client, origin).rttMs;
}

/**
 * Goodput that no transfer over one connection can exceed: two round trips, then the bytes at the narrowest
 * link's rate.
 */
export function boundBps(scenario: Scenario): number {
  const { topology, client, origin, sizeBytes } = scenario;
  const rateBps = payloadRateBps(pathBetween(topology, origin, client).rateBps);
  return (sizeBytes * 8) / ((2 * rttOf(scenario)) / 1000 + (sizeBytes * 8) / rateBps);
}

/**
 * What the planner's own models say of one variant, as goodput of the whole transfer; undefined where they
 * say nothing.
 */
export function predictedBps(scenario: Scenario, variant: Variant): number | undefined {
  const legs = legsOf(scenario, variant);
  if (!legs) return undefined;
  const setUp = { clientTls: scenario.tls ?? false, originTls: scenario.tls ?? false };
  return (scenario.sizeBytes * 8) / chainSeconds(legs, scenario.sizeBytes, setUp);
}

/** What the planner's model is asked of a way. */
export interface ModelledWay {
  readonly legs: readonly LegEstimate[];
  readonly setUp: SetUp;
  readonly lanes: number;
  /** The master's redirect, which goes before. */
  readonly redirectSeconds: number;
}

/** How the model sees the direct way, or a chain chosen by hand, of the lab's true links; undefined for other ways. */
export function modelledWay(scenario: Scenario, variant: Variant): ModelledWay | undefined {
  if (variant.kind !== 'direct' && variant.kind !== 'chain') return undefined;
  const legs = legsOf(scenario, variant.kind === 'chain' ? { ...variant, lanes: undefined } : variant);
  if (!legs) return undefined;
  const { tls = false } = scenario;
  return {
    legs,
    setUp: { clientTls: tls, originTls: tls },
    lanes: variant.kind === 'chain' ? (variant.lanes ?? 1) : 1,
    redirectSeconds: redirectMs(scenario, variant) / 1000,
  };
}

/** Seconds that the model says the client needs for so many bytes. */
export function modelledSeconds(
  { legs, setUp, lanes, redirectSeconds }: ModelledWay,
  sizeBytes: number,
  constants: FittedConstants = FITTED,
): number {
  return redirectSeconds + chainSeconds(legs, sizeBytes, setUp, lanes, Number.POSITIVE_INFINITY, constants);
}

/** What the models say of the time to the first byte, the master's redirect included. */
export function predictedFirstByteMs(scenario: Scenario, variant: Variant): number | undefined {
  if (variant.kind === 'chain' && variant.signalling === 'stepwise' && variant.depots.length > 1)
    return redirectMs(scenario, variant) + visitsMs(scenario, variant.depots);
  const legs = legsOf(scenario, variant);
  if (!legs) return undefined;
  const tls = scenario.tls ?? false;
  const rttsMs = legs.map(({ rttMs }) => rttMs);
  const direct = setUpSeconds(rttsMs, { clientTls: tls, originTls: tls }) * 1000;
  return direct + redirectMs(scenario, variant);
}

/**
 * A connection to each depot and its answer, and one from the first depot to the second. By then the bytes are at the
 * second, which has asked for them while the client was on its way.
 */
function visitsMs({ topology, client }: Scenario, depots: readonly string[]): number {
  const [first = '', second = ''] = depots;
  const visits = depots.map((id) => pathBetween(topology, client, id).rttMs);
  return 2 * (visits.reduce((sum, rttMs) => sum + rttMs, 0) + pathBetween(topology, first, second).rttMs);
}

/** A connection to the master and its answer. */
export function redirectMs(scenario: Scenario, { kind }: Variant): number {
  const { topology, client, tls } = scenario;
  if (kind === 'direct') return 0;
  return pathBetween(topology, client, masterSite(scenario)).rttMs * (tls ? 3 : 2);
}

/** The legs from the client on; the planner's own choice is taken for direct here, and of lanes nothing is said. */
export function legsOf(scenario: Scenario, variant: Variant): readonly LegEstimate[] | undefined {
  // The models know the connections of a chain, not a client that visits each depot.
  if (variant.kind === 'chain' && variant.signalling === 'stepwise' && variant.depots.length > 1)
    return undefined;
  if (variant.kind !== 'direct' && variant.kind !== 'chain' && variant.kind !== 'auto') return undefined;
  if (variant.kind === 'chain' && variant.lanes !== undefined) return undefined;
  const stops = ['client', ...(variant.kind === 'chain' ? variant.depots : []), 'origin'];
  const links = linkEstimates(scenario);
  const { sites } = scenario.topology;
  return stops.slice(1).flatMap((sender, index) => {
    const receiver = stops[index] ?? '';
    const link = links.find(({ between }) => between.includes(sender) && between.includes(receiver));
    const site = sender === 'origin' ? scenario.origin : sender;
    const fallback = sender === 'origin' ? USUAL_CONGESTION_CONTROL : DEPOT_CONGESTION_CONTROL;
    return link
      ? [
          {
            rttMs: link.rttMs,
            lossRate: link.lossRate,
            rateBps: link.rateBps,
            windowBytes: link.windowBytes ?? DEFAULT_WINDOW_BYTES,
            sender: sites[site]?.congestionControl ?? fallback,
          },
        ]
      : [];
  });
}
