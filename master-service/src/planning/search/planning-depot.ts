import type { AddressFamily, DepotEntry } from '@longhaul/shared';

/** A registered depot as the planner sees it; only one that is `up` is planned with. */
export interface PlanningDepot extends Pick<DepotEntry, 'id' | 'tls'> {
  readonly state: DepotEntry['state'] | 'unproved';
  /** What its line leaves to one more download, bits per second; left out where nobody knows. */
  readonly roomBps?: number;
  /** Clients that have not this family cannot reach it; left out where either one does, or nobody knows. */
  readonly onlyFamily?: AddressFamily;
}
