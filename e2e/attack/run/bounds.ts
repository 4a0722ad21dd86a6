import { MIB } from '@longhaul/shared';
import { DEPOT_LIMITS } from '../world/limits.ts';

/** What holds for everybody else while an attack runs, and for the services afterwards. docs/attacks.md states it. */
export const BOUNDS = {
  /** Time of a bystander's download by its time while nobody attacks. */
  bystanderMedian: 1.5,
  bystanderP95: 3,
  /** Memory of a process at most: a heap of 160 MB, and as much again beside it. */
  peakRssBytes: 400 * MIB,
  /**
   * A heap that has been large keeps its pages; a service with more is started anew, so that the next attack
   * is judged by its own.
   */
  restingRssBytes: 256 * MIB,
  /**
   * Memory that the kernel holds for the connections of one service at most: 8 MiB for each transfer of one
   * network.
   */
  peakSocketBytes: 8 * MIB * DEPOT_LIMITS.perClient,
  /** When an attacker's process has ended, services have let go of all that they held for it by then. */
  settleSeconds: 10,
  /** What may remain: jobs, plans and proofs that are remembered, each up to a bound of its own. */
  heldGrowthBytes: 24 * MIB,
  /** Connections that the bystander's own downloads have at a moment, pipes and spare legs kept for the next ones. */
  descriptorGrowth: 64,
  socketGrowthBytes: 16 * MIB,
  /** Transfers, tunnels and waiting places that downloads of bystander and neighbour have at a moment. */
  activeGrowth: 6,
  /**
   * Lines that a service logs: at once, for each second of a strike, and for each transfer that it served
   * meanwhile.
   */
  logLinesAtOnce: 100,
  logLinesPerSecond: 20,
  logLinesPerTransfer: 3,
} as const;
