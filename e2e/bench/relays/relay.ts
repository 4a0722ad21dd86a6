import type { Network } from '../../lab/network/network.ts';
import type { Way } from '../traffic/traffic-order.ts';
import type { RelayId } from './relay-id.ts';

/** The one site of the benchmark's network; everything runs there. */
export const SITE = 'bench';
/** Relays have the first core, source and sink the second. */
export const RELAY_CORE = 0;
export const TRAFFIC_CORE = 1;

/** Where a relay is to stand and lead to. */
export interface RelaySpec {
  readonly network: Network;
  /** Where it listens. */
  readonly port: number;
  readonly sourcePort: number;
}

/** A relay that runs. */
export interface Relay {
  readonly id: RelayId;
  /** Undefined for `direct`. Its children belong to it. */
  readonly pid: number | undefined;
  readonly port: number;
  /** How flows go through it. */
  readonly way: Way;
  /** Bytes of a body it must have before it lets the first through, when it waits for a whole buffer. */
  readonly leastBytes?: number;
  /** Says what is wrong when something else has carried the flows than the id says. */
  readonly planeObstacle?: () => Promise<string | undefined>;
}

/** A command that runs on one core alone. */
export function onCore(core: number, command: readonly string[]): string[] {
  return ['taskset', '--cpu-list', String(core), ...command];
}
