import { SEGMENT_BYTES } from '@longhaul/shared';
import type { LinkSpec } from '../../overlay/overlay.ts';
import { FRAME_OVERHEAD_BYTES } from '../emulator/link-settings.ts';
import type { Scenario } from '../experiment.ts';
import { pathBetween } from '../network/routes.ts';

/** An Ethernet payload: with the frame's head it is what a link counts. */
const MTU_BYTES = 1500;
/** What of a link's rate is left for the bytes of a file. */
const PAYLOAD_SHARE = SEGMENT_BYTES / (MTU_BYTES + FRAME_OVERHEAD_BYTES);
/** A wire has no limit of its own; for a plan this is as good as none. */
const WIRE_RATE_BPS = 10e9;
/** The kernel makes a window of about this share of a receive buffer; the rest is its own overhead. */
const WINDOW_SHARE = 0.6;

/** Payload bits per second of a link with this line rate. */
export function payloadRateBps(lineRateBps: number): number {
  return lineRateBps * PAYLOAD_SHARE;
}

/**
 * What the planner is told of a scenario: round-trip time, loss and rate of the path between every two of client,
 * depots and origin, straight from the topology. Of cross traffic it is told nothing.
 */
export function linkEstimates(scenario: Scenario): LinkSpec[] {
  const ends = [
    { name: 'client', site: scenario.client },
    ...scenario.depots.map((depot) => ({ name: depot, site: depot })),
    { name: 'origin', site: scenario.origin },
  ];
  return ends.flatMap((one, index) => ends.slice(index + 1).map((other) => estimate(scenario, one, other)));
}

interface End {
  readonly name: string;
  readonly site: string;
}

function estimate({ topology }: Scenario, one: End, other: End): LinkSpec {
  // Bytes of a download flow towards the client: the end named first receives.
  const path = pathBetween(topology, other.site, one.site);
  const bufferBytes = topology.sites[one.site]?.receiveBufferBytes;
  return {
    between: [one.name, other.name],
    rttMs: path.rttMs,
    lossRate: path.lossRate,
    rateBps: payloadRateBps(Math.min(path.rateBps, WIRE_RATE_BPS)),
    ...(bufferBytes === undefined ? {} : { windowBytes: Math.round(bufferBytes * WINDOW_SHARE) }),
  };
}
